import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { withShortKeys } from "./src/lib/sentence_keys.ts";

/** What several screens share, and not all of the first ones: a file of its own for each of these, with what is in no file before it. */
const APART = {
  // The overview, what words a proposal where one is listed, most of the later screens, and what is asked for after the first view.
  compared: "change_handover|replaced|diff|one_after_another|overview|proposal|proposal_question|proposals|usage",
  // The talk and some later screens.
  talk: "drafts|erase_button|form_now|kept_talks|model_name|outbox|receipts|refused_memory|rich_text|take_back|turns|undo|value",
  // Later screens only, the form of a memory, what an erase forgets, and two small screens that come when they are asked for.
  late: "causes|erase_dialog|erased_traces|erase_look|frame_dialogs|scope_choice|erase_plan|erase_reach|erased_kinds|evidence|jsonlines|memory_acts|outcomes|recall_reasons|memory_add|recall_settings|schema_form|told_sentences|value_changes|value_form|verdict|review_question|copy_button|written_here",
};
/** What is best left where it is needed. */
const ALONE = "api_document|graph_\\w+";
const parts = (modules: string): RegExp => new RegExp(`src/(lib|parts|api|screens(?=/(erase_dialog|memory_add|review_question)))/(${modules})\\.tsx?$`);
const partsBut = (modules: string): RegExp => new RegExp(`src/(lib|parts|api)/(?!(${modules})\\.)`);

/** What is said of parameters, and of how files were imported, is found by the service's sentences: in a build by their digests, which are a fifth of them. */
const shortKeys = {
  name: "short-keys",
  apply: "build" as const,
  transform: (code: string, id: string) => (/words\/(parameters|differences)_\w+\.ts$/.test(id) ? withShortKeys(code) : undefined),
};

/** The page is served by the service itself, maybe below a path prefix: addresses stay relative. */
export default defineConfig({
  base: "./",
  plugins: [react(), shortKeys],
  build: {
    outDir: "../src/recollect/server/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    // Else each small module that some screens share is a file, whose headers weigh more than itself; so are the two of a language.
    rolldownOptions: {
      output: {
        // Each name stands in every file that imports it: six characters tell two builds apart as well as eight.
        chunkFileNames: "assets/[name]-[hash:6].js",
        codeSplitting: {
          groups: [
            { name: "zh", test: /words\/zh(_types)?\.ts$/ },
            { name: "zh_hant", test: /words\/zh_hant(_types)?\.ts$/ },
            { name: "zh_late", test: /words\/(types_)?zh_late\.ts$/ },
            { name: "zh_hant_late", test: /words\/(types_)?zh_hant_late\.ts$/ },
            // Each screen needs what the page begins with: one file, and no request more.
            { name: "index", priority: 4, tags: ["$initial"] },
            { name: "shared", priority: 3, test: partsBut([...Object.values(APART), ALONE].join("|")), minShareCount: 2 },
            ...Object.entries(APART).map(([name, modules]) => ({ name, priority: name === "compared" ? 2 : 1, test: parts(modules) })),
            // Three small screens of whoever looks after a memory: a file each would weigh more. After the others, as it takes what they need with it.
            { name: "upkeep", test: /screens\/(formation|types|review)\.tsx$/ },
          ],
        },
      },
    },
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8300" } },
});
