import Type, { type Static } from 'typebox';
import { messageOf } from '../../../lib/error-message.ts';
import {
  type AskedEdge,
  RedirectedElsewhere,
  type VisitedWebsite,
  visitPage,
} from '../../wordpress/wordpress-answers.ts';
import { shortPhpError } from './php-error.ts';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const seenPageSchema = Type.Object({
  /** For people: `the home page`. */
  name: Type.String(),
  path: Type.String(),
  /** Null if there was no answer, for the reason in `failure`. A page that redirects to another website has both. */
  status: orNull(Type.Integer()),
  failure: orNull(Type.String()),
  length: Type.Integer(),
  /** The parts of its structure that it has, such as `</html>`. */
  parts: Type.Array(Type.String()),
  /** The kinds of PHP errors that visitors can read in it. */
  errors: Type.Array(Type.String()),
  /** The fatal error of PHP that ended it, with file and line; null if it is unknown. */
  error: orNull(Type.String()),
  milliseconds: Type.Integer(),
});

/** A page of a website as the edge answers. */
export type SeenPage = Static<typeof seenPageSchema>;
export type AskedPage = Pick<SeenPage, 'name' | 'path'>;

/** A website, and where its edge answers. */
export interface ProbedWebsite {
  website: VisitedWebsite;
  edge: AskedEdge;
}

/** A page that breaks off, or that lost its theme, lacks some of those that it had. */
const PARTS = [
  '<head',
  '</head>',
  '<header',
  '<nav',
  '<main',
  '<footer',
  '</body>',
  '</html>',
  'id="loginform"',
  'name="pwd"',
];
/** As PHP and WordPress print them. */
const ERRORS = /<b>(Fatal error|Parse error)<\/b>:|There has been a (critical error) on this website/g;
const SHOWN_ERROR = /<b>(?:Fatal|Parse) error<\/b>:[^\n]*/;
/** Where WordPress sends visitors of a website without tables or configuration. */
export const INSTALLATION = /\/wp-admin\/(?:install|setup-config)\.php$/;
export const INSTALLATION_PART = 'the installation of WordPress';
/** Past the page cache, which would hide a fault of PHP. WordPress takes such a visitor for a stranger. */
export const UNCACHED = { cookie: 'wordpress_logged_in_check=1' };

export interface PageVisit {
  timeoutMs: number;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/** Requests a page from the website's own edge. A page without an answer is a result and no failure. */
export async function seePage(
  { website, edge }: ProbedWebsite,
  { name, path }: AskedPage,
  { timeoutMs, headers = {}, signal }: PageVisit,
): Promise<SeenPage> {
  const began = performance.now();
  const taken = () => Math.round(performance.now() - began);
  try {
    const { url, status, body } = await visitPage(website, path, edge, { signal, headers, timeoutMs });
    const milliseconds = taken();
    const lower = body.toLowerCase();
    const parts = PARTS.filter((part) => lower.includes(part.toLowerCase()));
    if (INSTALLATION.test(url.pathname)) parts.push(INSTALLATION_PART);
    const errors = [...body.matchAll(ERRORS)].map((found) => found[1] ?? found[2] ?? '');
    const [shown] = SHOWN_ERROR.exec(body) ?? [];
    return {
      ...{ name, path, status, failure: null, length: body.trim().length, parts },
      errors: [...new Set(errors)],
      error: shown === undefined ? null : shortPhpError(shown),
      milliseconds,
    };
  } catch (error) {
    signal?.throwIfAborted();
    return {
      ...{ name, path, failure: messageOf(error), length: 0, parts: [], errors: [], error: null },
      status: error instanceof RedirectedElsewhere ? error.status : null,
      milliseconds: taken(),
    };
  }
}
