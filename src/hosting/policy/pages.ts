/** The pages that the edge itself shows. Small, without anything from elsewhere, readable in light and dark. */

const STYLE = `:root{color-scheme:light dark}*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:2rem;font:1.0625rem/1.6 system-ui,sans-serif;
background:light-dark(#f6f7f9,#14161a);color:light-dark(#1d2430,#e4e8ee)}
main{max-width:34rem;padding:2.5rem;border-radius:1rem;background:light-dark(#fff,#1c2027);
box-shadow:0 1px 2px #0002,0 12px 32px #0001;border-top:4px solid light-dark(#2f6fed,#6c9cff)}
h1{margin:0 0 .75rem;font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}p{margin:.5rem 0 0}
small{color:light-dark(#5b6676,#9aa5b5)}code{font-size:.95em}`;

/** An HTML document. `title` is text, `content` is HTML. */
export function htmlPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>
${STYLE}
</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}

/** Escapes text for HTML, between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The page for requests without a matching website. */
export interface Notice {
  status: number;
  title: string;
  sentence: string;
}

export const NOTICES = {
  badRequest: {
    status: 400,
    title: 'Bad request',
    sentence: 'The address cannot be read. Please check it for mistakes.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    sentence: 'The permissions of this file do not let the web server read it.',
  },
  blocked: {
    status: 403,
    title: 'Forbidden',
    sentence: 'You do not have access to this address.',
  },
  protected: {
    status: 401,
    title: 'Password required',
    sentence: 'This website asks for a user name and a password.',
  },
  tooMany: {
    status: 429,
    title: 'Too many requests',
    sentence: 'Too many requests came from your network. Please try again later.',
  },
  program: {
    status: 403,
    title: 'Not run here',
    sentence:
      'This is a program, and this server serves files only; it neither runs programs nor shows their source.',
  },
  notFound: {
    status: 404,
    title: 'Page not found',
    sentence: 'There is nothing at this address.',
  },
  noWebsite: {
    status: 404,
    title: 'No website here',
    sentence: 'No website answers to this name on this server. If it should, check its domain settings.',
  },
  method: {
    status: 405,
    title: 'Method not allowed',
    sentence: 'This website serves files, which can only be read.',
  },
  failed: {
    status: 500,
    title: 'Something went wrong',
    sentence:
      'The web server could not answer. Please try again; if it persists, tell the operator of the website.',
  },
  closed: {
    status: 503,
    title: 'Not available now',
    sentence: 'This website is not available at the moment. Please try again later.',
  },
  held: {
    status: 503,
    title: 'Read only for a moment',
    sentence:
      'This website is moving to another machine. You can read it, but not change it. Please try again in a minute.',
  },
  busy: {
    status: 503,
    title: 'Busy',
    sentence: 'The website has too many requests at the moment. Please try again in a few seconds.',
  },
  slow: {
    status: 504,
    title: 'The website takes too long',
    sentence: 'The website did not answer in time. Please try again; if it persists, tell its operator.',
  },
  noAnswer: {
    status: 502,
    title: 'The website does not answer',
    sentence:
      'PHP of the website ended without an answer. Please try again; if it persists, tell its operator.',
  },
  tooLarge: {
    status: 413,
    title: 'Too large',
    sentence: 'The website does not accept an upload of this size.',
  },
  storage: {
    status: 502,
    title: 'File storage does not answer',
    sentence: 'The storage where this file lies did not deliver it. Please try again in a moment.',
  },
} as const satisfies Record<string, Notice>;

const rendered = new Map<Notice, Buffer>();

/** The page of a notice, as UTF-8. */
export function noticePage(notice: Notice): Buffer {
  let page = rendered.get(notice);
  if (page === undefined) {
    const heading = `${notice.status} ${notice.title}`;
    page = Buffer.from(
      htmlPage(
        heading,
        `<h1>${escapeHtml(notice.title)}</h1>\n<p>${escapeHtml(notice.sentence)}</p>\n<p><small>${notice.status}</small></p>`,
      ),
    );
    rendered.set(notice, page);
  }
  return page;
}
