import Type from 'typebox';
import { Value } from 'typebox/value';
import { meaningOf } from './error-sentences.ts';
import { AcmeRefusal, ERROR_NAMESPACE } from './refusal.ts';

const ProblemDocument = Type.Object({ type: Type.String(), detail: Type.Optional(Type.String()) });
const Compound = Type.Object({ subproblems: Type.Array(ProblemDocument, { minItems: 1 }) });

/** A problem document (RFC 8555 section 6.7). */
export interface Problem {
  type: string;
  /** The authority's own words, unsafe to show; '' if there are none. */
  detail: string;
}

/** Reads a problem document. A compound one (section 6.7.1) gives its first subproblem. Null for any other body. */
export function parseProblem(body: unknown): Problem | null {
  if (!Value.Check(ProblemDocument, body)) return null;
  const isCompound = body.type === `${ERROR_NAMESPACE}compound` && Value.Check(Compound, body);
  const { type, detail = '' } = (isCompound ? body.subproblems[0] : undefined) ?? body;
  return { type, detail };
}

/** Builds the refusal for a problem. `name`: the host name of the certificate, or null. */
export function refusalOf(
  { type, detail }: Problem,
  name: string | null,
  retryAfterMs: number | null = null,
): AcmeRefusal {
  const { sentence, permanent } = meaningOf(type, name);
  const shown = shownDetail(detail).replace(/\.$/, '');
  const message = shown === '' ? `${sentence}.` : `${sentence} (details: ${shown}).`;
  return new AcmeRefusal(type, message, { retryAfterMs, permanent });
}

/** Longest detail to show, in characters. */
const MAX_DETAIL = 200;
/** Token and thumbprint (RFC 8555 section 8.1), which mean nothing to people. */
const KEY_AUTHORIZATION = /[\w-]{22,}\.[\w-]{43}/g;

/** The authority's detail on one line, shortened, without control and direction characters. */
export function shownDetail(detail: string): string {
  const line = detail
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(KEY_AUTHORIZATION, '…')
    .trim();
  const characters = [...line];
  return characters.length <= MAX_DETAIL ? line : `${characters.slice(0, MAX_DETAIL - 1).join('')}…`;
}
