import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type OutputBundle, type OutputChunk, rolldown } from 'rolldown';
import type { Plugin } from 'vite';

/** Runs before the first paint. */
const BEFORE_PAINT = join(import.meta.dirname, 'first/before-paint.ts');
/** The styles of the first paint. */
const FRAME = ['tokens.css', 'first/frame.css'].map((file) => join(import.meta.dirname, file));

/** Scripts of the pages that people open first, by the paths of app.tsx. The server lets the browser load them at once. */
const FIRST_PAGES: readonly (readonly [path: string, script: string])[] = [
  ['^/$', 'pages/account/home/home.tsx'],
  ['^/accounts/[^/]+/home$', 'pages/account/home/home.tsx'],
  ['^/accounts/[^/]+/sites$', 'pages/account/sites.tsx'],
  ['^/accounts/[^/]+/installs$', 'pages/account/installs.tsx'],
  ['^/sites/[^/]+$', 'pages/site/index.tsx'],
  ['^/installs/', 'pages/install/index.tsx'],
];
const SIGN_IN = 'pages/sign-in/sign-in-page.tsx';

/** The scripts that must have a chunk of their own. */
export const FIRST_SCRIPTS: readonly string[] = [...FIRST_PAGES.map(([, script]) => script), SIGN_IN];

/**
 * Builds the script and the styles of the first paint, in two files that import nothing. The other styles come at the end of the
 * document, because a browser paints everything above them. Lists the files that the server names in the document, so that
 * the browser loads them beside the first script (first-page.json, src/api/first-page.ts).
 */
export function firstPage(): Plugin {
  return {
    name: 'first-page',
    async buildStart() {
      const bundle = await rolldown({ input: BEFORE_PAINT });
      try {
        const { output } = await bundle.generate({ format: 'iife', minify: true });
        this.addWatchFile(BEFORE_PAINT);
        this.emitFile({ type: 'asset', name: 'before-paint.js', source: output[0].code });
        for (const file of FRAME) this.addWatchFile(file);
        this.emitFile({ type: 'asset', name: 'frame.css', source: FRAME.map(withoutComments).join('') });
      } finally {
        await bundle.close();
      }
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const [script, styles] = [/\/before-paint-[^/]+\.js$/, /\/frame-[^/]+\.css$/].map((name) =>
          Object.values(bundle).find(({ fileName }) => name.test(fileName)),
        );
        const [others = ''] = /\s*<link rel="stylesheet"[^>]*>/.exec(html) ?? [];
        if (!script || !styles) throw new Error('the first paint was not built');
        // Before the style sheets, which scripts below them wait for.
        const first = `<script src="./${script.fileName}"></script>
    <link rel="stylesheet" href="./${styles.fileName}">`;
        return html
          .replace(others, '')
          .replace('</title>', `</title>\n    ${first}`)
          .replace('</body>', `  ${others.trimStart()}\n  </body>`);
      },
    },
    writeBundle({ dir = '' }, bundle) {
      const pages = FIRST_PAGES.map(([path, script]) => ({ path, files: filesOf(script, bundle) }));
      writeFileSync(
        join(dir, 'first-page.json'),
        JSON.stringify({ signed_out: filesOf(SIGN_IN, bundle), pages }),
      );
    },
  };
}

const withoutComments = (file: string) => readFileSync(file, 'utf8').replaceAll(/\/\*.*?\*\//gs, '');

/** The scripts and style sheets that a page needs beside those of index.html. */
function filesOf(script: string, bundle: OutputBundle): string[] {
  const chunks = Object.values(bundle).filter((output) => output.type === 'chunk');
  const entry = chunks.find(({ isEntry }) => isEntry);
  const page = chunks.find(
    ({ facadeModuleId }) =>
      facadeModuleId !== null && relative(import.meta.dirname, facadeModuleId) === script,
  );
  if (entry === undefined || page === undefined) throw new Error(`${script} has no chunk of its own`);
  const present = new Set(importsOf(entry, chunks).flatMap(filesOfChunk));
  const files = new Set(importsOf(page, chunks).flatMap(filesOfChunk));
  return [...files].filter((file) => !present.has(file));
}

/** A chunk and all that it imports statically. */
function importsOf(first: OutputChunk, chunks: readonly OutputChunk[]): OutputChunk[] {
  const found = [first];
  for (const chunk of found) {
    const imported = chunks.filter(({ fileName }) => chunk.imports.includes(fileName));
    found.push(...imported.filter((other) => !found.includes(other)));
  }
  return found;
}

const filesOfChunk = ({ fileName, viteMetadata }: OutputChunk): string[] => [
  fileName,
  ...(viteMetadata?.importedCss ?? []),
];
