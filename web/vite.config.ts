import { defineConfig } from 'vite';
import { firstPage } from './first-page.ts';

/** Scripts of every page, and those of lists. Many small files would take several turns on a slow connection. */
const BASE =
  /rolldown[\\/]runtime\.js$|node_modules[\\/](preact|wouter|regexparam|use-sync-external-store|@tanstack|openapi-fetch)[\\/]|web[\\/](app|live[\\/]use-live-changes|shell[\\/](?!palette|commands|install-commands|use-commands|search-results)[^\\/]+|session[\\/][^\\/]+|first[\\/][^\\/]+|components[\\/](button|dialog|dialog-context|error-boundary|fields|focus-on-mount|form|kept-focus|menu|notice|on-demand|page|skeleton|toast)|api[\\/](client|early-requests|failure|operations|presence|queries))\.(tsx?|module\.css)$|preload-helper/;
const LISTS =
  /web[\\/](components[\\/](bytes|debounced|display-name|environments|filter|formatted-time|install-states|install-status|list-parameters|loaded|not-found|punycode|query-parameters|search-chip|sort-rows|table|table-selection|tabs|time|truncate|usage-figures)|api[\\/](all-pages|install-list|installs|overview|search|site-list|sites|transfers|usage|waiting-updates)|pages[\\/]account[\\/](account|attention|attention-labels|limit-notice|matched-domain|nothing-matches|search|shown-count|this-month|transfer-notice)|pages[\\/]install[\\/]operations[\\/]operation-labels)\.(tsx?|module\.css)$/;

/** Relative addresses: index.html is served with the base of the public URL (src/api/portal-pages.ts). */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [firstPage()],
  resolve: {
    // Preact in place of React, under the names that the libraries import (docs/decisions/portal.md).
    alias: [
      { find: /^use-sync-external-store\/shim(\/index\.js)?$/, replacement: 'preact/compat' },
      { find: /^react(-dom)?$/, replacement: 'preact/compat' },
      { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
      { find: /^react\/jsx-runtime$/, replacement: 'preact/jsx-runtime' },
    ],
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'portal/assets',
    target: 'es2022',
    // Inlined assets are `data:` URLs, which the content security policy does not allow.
    assetsInlineLimit: 0,
    // One small style sheet, so that no page waits for its own and none moves when it arrives.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // How long plugins take is no concern of operators, who build the portal at the first start.
      checks: { bundlerTimings: false },
      output: {
        // The document lists the files of all pages, so their names count.
        entryFileNames: 'portal/assets/[name]-[hash].js',
        chunkFileNames: 'portal/assets/[hash].js',
        codeSplitting: {
          groups: [
            { name: 'base', test: BASE },
            { name: 'lists', test: LISTS },
          ],
        },
      },
      onLog(level, log, write) {
        // "use client" only matters to frameworks that render on a server.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') write(level, log);
      },
    },
  },
});
