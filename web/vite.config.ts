import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The page is served by the service itself, maybe below a path prefix: addresses stay relative. */
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    outDir: "../src/recollect/server/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    // Else each small module that some screens share is a file, whose headers weigh more than itself; so are the two of a language.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "zh", test: /words\/zh(_types)?\.ts$/ },
            { name: "zh_hant", test: /words\/zh_hant(_types)?\.ts$/ },
            { name: "zh_late", test: /words\/(types_)?zh_late\.ts$/ },
            { name: "zh_hant_late", test: /words\/(types_)?zh_hant_late\.ts$/ },
            { name: "shared", priority: 1, test: /src\/(lib|parts|api)\/(?!value_form|schema_form|jsonlines|api_document|graph|causes|erase_reach|erased_kinds|evidence|one_after|recall_|written_here|proposal)/, minShareCount: 2 },
            // What several of the later screens share, and the first ones have no use for; what it needs itself is in the group before.
            { name: "late", test: /src\/lib\/(causes|erase_reach|erased_kinds|evidence|one_after|recall_|written_here)/ },
          ],
        },
      },
    },
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8300" } },
});
