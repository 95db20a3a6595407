import Type, { type Static } from 'typebox';
import { messageOf } from '../../../lib/error-message.ts';
import { failureSentence } from '../../wordpress/failure-sentence.ts';
import {
  type AskedEdge,
  RedirectedElsewhere,
  type VisitedWebsite,
  visitPage,
} from '../../wordpress/wordpress-answers.ts';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const seenPageSchema = Type.Object({
  /** For people: `the home page`. */
  name: Type.String(),
  path: Type.String(),
  /** `administrator`: a page of wp-admin. `api`: no page, but text for programs. `file`: the edge sends it without PHP. */
  kind: Type.Union([
    Type.Literal('visitor'),
    Type.Literal('administrator'),
    Type.Literal('api'),
    Type.Literal('file'),
  ]),
  /** Null if there was no answer, for the reason in `failure`. A page that redirects to another website has both. */
  status: orNull(Type.Integer()),
  failure: orNull(Type.String()),
  length: Type.Integer(),
  /** The parts of its structure that it has, such as `</html>`. */
  parts: Type.Array(Type.String()),
  /** The kinds of PHP errors that visitors can read in it. */
  errors: Type.Array(Type.String()),
  /** The fatal error of PHP that ended it, with file and line; null if there was none or it is unknown. */
  error: orNull(Type.String()),
  milliseconds: Type.Integer(),
});

/** A page of a website as the edge answers. */
export type SeenPage = Static<typeof seenPageSchema>;
export type AskedPage = Pick<SeenPage, 'name' | 'path' | 'kind'>;

/** A website, and where its edge answers. */
export interface ProbedWebsite {
  website: VisitedWebsite;
  edge: AskedEdge;
}

export const LOGIN_PART = 'name="pwd"';
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
  LOGIN_PART,
];
/** As PHP and WordPress print them. */
const ERRORS = /<b>(Fatal error|Parse error)<\/b>:|There has been a (critical error) on this website/g;
export const SHOWN_ERROR = /<b>(?:Fatal|Parse) error<\/b>:[^\n]*/;
/** The line that probe.php adds to a page that ended with an error. */
const REPORTED_ERROR = /\n<!--homeport-probe ([\w+/=]+)-->$/;
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

export interface Visited {
  page: SeenPage;
  /** After redirects; null without an answer. */
  url: URL | null;
  body: string;
}

/** Requests a page from the website's own edge. A page without an answer is a result and no failure. */
export async function seePage(
  { website, edge }: ProbedWebsite,
  { name, path, kind }: AskedPage,
  { timeoutMs, headers = {}, signal }: PageVisit,
): Promise<Visited> {
  const began = performance.now();
  const taken = () => Math.round(performance.now() - began);
  try {
    const answer = await visitPage(website, path, edge, { signal, headers, timeoutMs });
    const milliseconds = taken();
    const { url, status } = answer;
    const [, reported] = REPORTED_ERROR.exec(answer.body) ?? [];
    const body = answer.body.replace(REPORTED_ERROR, '');
    const error =
      reported === undefined ? SHOWN_ERROR.exec(body)?.[0] : Buffer.from(reported, 'base64').toString();
    const lower = body.toLowerCase();
    const parts = PARTS.filter((part) => lower.includes(part.toLowerCase()));
    if (INSTALLATION.test(url.pathname)) parts.push(INSTALLATION_PART);
    const errors = [...body.matchAll(ERRORS)].map((found) => found[1] ?? found[2] ?? '');
    const page: SeenPage = {
      ...{ name, path, kind, status, failure: null, length: body.trim().length, parts },
      errors: [...new Set(errors)],
      error: error === undefined ? null : failureSentence(error),
      milliseconds,
    };
    return { page, url, body };
  } catch (error) {
    signal?.throwIfAborted();
    const status = error instanceof RedirectedElsewhere ? error.status : null;
    return {
      page: { ...unseen({ name, path, kind }, messageOf(error)), status, milliseconds: taken() },
      url: null,
      body: '',
    };
  }
}

/** A page without an answer. */
export const unseen = (asked: AskedPage, failure: string): SeenPage => ({
  ...asked,
  ...{ status: null, failure, length: 0, parts: [], errors: [], error: null, milliseconds: 0 },
});
