import { escapeHtml, htmlPage } from '../policy/pages.ts';

/** The first page of a new website, with its name. The owner replaces it. */
export function starterPage(installName: string): string {
  const name = escapeHtml(installName);
  return htmlPage(
    installName,
    `<h1>${name}</h1>
<p>This website is ready. It has no content yet.</p>
<p><small>If it is yours: sign in by SFTP as <code>${name}</code> and replace <code>index.html</code>.</small></p>`,
  );
}
