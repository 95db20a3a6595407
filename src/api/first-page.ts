import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

/** The files of the pages that people open first, beside those that the document names (web/first-page.ts). */
const FirstFiles = Type.Object({
  signed_out: Type.Array(Type.String()),
  pages: Type.Array(Type.Object({ path: Type.String(), files: Type.Array(Type.String()) })),
});

/** Paths that are opened without a session. */
const SIGNING_IN = /^\/(sign-in|forgotten-password|password|invitations)(\/|$)/;

/** Returns the document for a path. */
export type FirstPage = (path: string, hasSession: boolean) => string;

/**
 * Prepares the document: for browsers with a session the frame of the portal, for others that of the sign-in page, and the files of the
 * requested page, so that the browser loads them beside the first script. `listed` is the text of the list of those files.
 */
export function createFirstPage(document: string, listed: string | undefined): FirstPage {
  const { signed_out, pages } = readFiles(listed);
  const signedOut = withFiles(without(document, 'signed-in'), signed_out);
  const signedIn = without(document, 'signed-out');
  const variants = pages.map(({ path, files }) => ({
    path: new RegExp(path),
    document: withFiles(signedIn, files),
  }));
  return (path, hasSession) => {
    if (!hasSession || SIGNING_IN.test(path)) return signedOut;
    return variants.find((variant) => variant.path.test(path))?.document ?? signedIn;
  };
}

/** Portals of earlier versions have no list. */
function readFiles(listed: string | undefined): Static<typeof FirstFiles> {
  const value: unknown = listed === undefined ? undefined : JSON.parse(listed);
  return Value.Check(FirstFiles, value) ? value : { signed_out: [], pages: [] };
}

/** Removes what stands between `<!--name-->` and `<!--/name-->`. */
const without = (document: string, name: string) =>
  document.replace(new RegExp(`<!--${name}-->[^]*<!--/${name}-->`), '');

/** Names files that the page will need. Style sheets are loaded only, because applying them here would delay the first paint. */
function withFiles(document: string, files: readonly string[]): string {
  const links = files.map((file) =>
    file.endsWith('.css')
      ? `<link rel="preload" as="style" crossorigin href="./${file}">`
      : `<link rel="modulepreload" crossorigin href="./${file}">`,
  );
  return document.replace('</head>', `${links.join('')}</head>`);
}
