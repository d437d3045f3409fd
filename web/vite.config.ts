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
            { name: "index", priority: 3, tags: ["$initial"] },
            { name: "proposal", test: /src\/(lib|parts)\/proposal/ },
            // What several of the later screens share, and the first ones have no use for.
            { name: "late", priority: 1, test: /src\/lib\/(causes|erase_|erased_kinds|evidence|recall_|told_sentences|written_here)/ },
            // What the overview and the talk share, also with later screens, and the list of memories has no use for.
            { name: "told", priority: 1, test: /src\/(lib\/(drafts|form_now|kept_talks|memory_acts|model_name|outbox|outcomes|overview|receipts|refused_memory|rich_text|turns|undo|usage)|parts\/(erase_button|former|value))\.tsx?$/ },
            { name: "shared", priority: 2, test: /src\/(lib|parts|api)\/(?!value_form|schema_form|jsonlines|api_document|graph|one_after|proposal|causes|erase|evidence|recall_|told_sentences|written_here|drafts|form_now|former\.|kept_talks|memory_acts|model_name|outbox|outcomes|overview|receipts|refused_memory|rich_text|turns|undo\.|usage|value\.)/, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8300" } },
});
