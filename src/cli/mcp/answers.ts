import { HomeportError } from '../../../packages/client/src/errors.ts';

/** An assistant's context is small; a longer answer is cut. */
const MOST_CHARACTERS = 60_000;
/** Members that give access, such as a link that opens a whole website. */
const SECRETS = new Set(['private_key', 'password', 'secret', 'download_uri']);

/** The answer of a tool: one text, and whether the call failed. */
export interface ToolAnswer {
  [name: string]: unknown;
  content: { type: 'text'; text: string }[];
  isError?: boolean;
}

export function toolAnswer(text: string, isError = false): ToolAnswer {
  return { content: [{ type: 'text', text }], ...(isError ? { isError: true } : {}) };
}

/** An answer of the API as text, without secrets. */
export async function shownAnswer(response: Response): Promise<string> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  const shown = isJson ? JSON.stringify(withoutSecrets(JSON.parse(text)), null, 1) : text;
  const operation = /\/operations\/([0-9a-f-]{36})$/.exec(response.headers.get('location') ?? '')?.[1];
  const started =
    operation === undefined
      ? ''
      : `\nStarted the operation ${operation}. Call get_operation with wait to see the outcome.`;
  const short =
    shown.length <= MOST_CHARACTERS
      ? shown
      : `${shown.slice(0, MOST_CHARACTERS)}\n… cut. Ask for less, for example with limit or a filter.`;
  return `${short || 'Done.'}${started}`;
}

/** The error, with every fault of the request. */
export function shownFailure(error: unknown): string {
  if (!(error instanceof HomeportError)) return error instanceof Error ? error.message : String(error);
  const faults = error.faults.map(({ field, message }) => `\n${field}: ${message}`);
  return `${error.status}: ${error.message}${faults.join('')}`;
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRETS.has(name) && typeof member === 'string' && member !== ''
        ? '(withheld)'
        : withoutSecrets(member),
    ]),
  );
}
