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
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8300" } },
});
