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
    // Inlined assets are `data:` URLs, which the content security policy does not allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      onLog(level, log, write) {
        // "use client" only matters to frameworks that render on a server.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') write(level, log);
      },
    },
  },
});
