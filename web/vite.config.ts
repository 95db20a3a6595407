import { defineConfig } from 'vite';

/** Relative addresses: index.html is served with the base of the public URL (src/api/portal-pages.ts). */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'portal/assets',
    target: 'es2022',
    // Everything must come from a file: a data: address in a style is one more thing for the policy to allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      onLog(level, log, write) {
        // "use client" is for frameworks that render on a server.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') write(level, log);
      },
    },
  },
});
