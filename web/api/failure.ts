/** A validation error of one field. */
export interface FieldError {
  field: string;
  message: string;
  /** The server's code of the error. */
  code?: string;
}

/** An error response, with the server's own messages. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly status: number;
  readonly fieldErrors: FieldError[];
  /** Seconds from the Retry-After header; null without one. */
  readonly retryAfterSeconds: number | null;
  /** Identifies the request in the server's log. */
  readonly requestId: string | null;
  constructor(response: Response, envelope: { message: string; errors?: FieldError[] }) {
    super(envelope.message);
    this.status = response.status;
    this.fieldErrors = envelope.errors ?? [];
    const retry = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterSeconds = Number.isNaN(retry) ? null : retry;
    this.requestId = response.headers.get('x-request-id');
  }
}

/** No server responded, or the response was cut off. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** An error that a page finds itself, without a response of the server. Its message is shown as it is. */
export class FormError extends Error {
  override readonly name = 'FormError';
  readonly fieldErrors: FieldError[];
  constructor(sentence: string, fieldErrors: FieldError[] = []) {
    super(sentence);
    this.fieldErrors = fieldErrors;
  }
}

export interface ClientResult<Data> {
  data?: Data;
  error?: { message: string; errors?: FieldError[] } | string;
  response: Response;
}

/**
 * Returns the body of a successful response. Throws ApiFailure for an error response and Unreachable without a
 * response.
 */
export async function unwrap<Data>(call: Promise<ClientResult<Data>>): Promise<Data> {
  const answer = await call.catch(unanswered);
  if (!answer.response.ok) throw failureOf(answer);
  if (answer.data === undefined) throw new Error(`${answer.response.url} responded without a body`);
  return answer.data;
}

/** Waits for a successful response without a body. Throws like {@link unwrap}. */
export async function unwrapEmpty(call: Promise<ClientResult<unknown>>): Promise<void> {
  const answer = await call.catch(unanswered);
  if (!answer.response.ok) throw failureOf(answer);
}

/**
 * Waits for a response that starts an operation, and returns the ID in its `Location`; null if it names none. Throws like
 * {@link unwrap}.
 */
export async function unwrapStarted(call: Promise<ClientResult<unknown>>): Promise<string | null> {
  const answer = await call.catch(unanswered);
  if (!answer.response.ok) throw failureOf(answer);
  return /\/operations\/([^/]+)$/.exec(answer.response.headers.get('location') ?? '')?.[1] ?? null;
}

/** Returns null for a 404, and throws any other error again. */
export function nullFor404(error: unknown): null {
  if (error instanceof ApiFailure && error.status === 404) return null;
  throw error;
}

/** fetch() rejects with a TypeError if the server cannot be reached. Elsewhere a TypeError is a bug. */
function unanswered(error: unknown): never {
  throw error instanceof TypeError ? new Unreachable(error.message, { cause: error }) : error;
}

function failureOf({ error, response }: ClientResult<unknown>): ApiFailure {
  const envelope =
    typeof error === 'object' ? error : { message: `The server responded with status ${response.status}` };
  return new ApiFailure(response, envelope);
}

/** Up to this many field errors are listed in a notice. With more, only the fields show them. */
const MOST_LISTED = 3;

/** Returns the sentence that users see for an error. Bugs of the portal are also logged to the browser's console. */
export function errorMessage(error: unknown): string {
  if (error instanceof FormError) return error.message;
  if (error instanceof Unreachable) {
    return 'The server cannot be reached. Check your connection and try again.';
  }
  if (error instanceof ApiFailure) return sentenceOf(error);
  console.error(error);
  return 'Something went wrong in the portal. Reload the page. If it happens again, contact your provider.';
}

/** Returns the sentence for one refused item of a bulk request. */
export function refusalMessage(refusal: { message: string; retry_after_seconds: number | null }): string {
  const { message, retry_after_seconds } = refusal;
  return retry_after_seconds === null ? sentence(message) : waitSentence(message, retry_after_seconds);
}

function waitSentence(message: string, seconds: number): string {
  return `${sentence(message)} Try again in ${waitingTime(seconds)}.`;
}

function sentenceOf({ status, message, fieldErrors, retryAfterSeconds, requestId }: ApiFailure): string {
  // A failed attempt to sign in has its own sentence (pages/sign-in/attempt-error.ts).
  if (status === 401) return 'Your session had expired, so nothing was changed. Try again.';
  if (status === 429) return waitSentence(message, retryAfterSeconds ?? 60);
  if (status >= 500) {
    return `${sentence(message)} If it happens again, contact your provider${requestId === null ? '' : ` and quote request ${requestId}`}.`;
  }
  const sentences = [...new Set(fieldErrors.map((fault) => sentence(withReadableField(fault))))];
  return sentences.length === 0 || sentences.length > MOST_LISTED ? sentence(message) : sentences.join(' ');
}

/**
 * Replaces a field's path at the beginning of a message, such as `path_settings.0.path`, with a readable name:
 * `Path`.
 */
function withReadableField({ field, message }: FieldError): string {
  if (!message.startsWith(`${field} `)) return message;
  const name = field.split('.').findLast((part) => !/^\d+$/.test(part)) ?? field;
  return `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}${message.slice(field.length)}`;
}

/** Joins the distinct errors of each field into one text, a line each. `fieldOf` maps the server's field names to the form's. */
export function messagesByField(
  fieldErrors: readonly FieldError[],
  fieldOf: (field: string) => string,
): Record<string, string> {
  const byField = Object.groupBy(fieldErrors, ({ field }) => fieldOf(field));
  return Object.fromEntries(
    Object.entries(byField).map(([field, of = []]) => {
      const sentences = new Set(of.map((fault) => sentence(withReadableField(fault))));
      return [field, [...sentences].join('\n')];
    }),
  );
}

/** Formats a waiting time: "40 seconds", "12 minutes". */
export function waitingTime(seconds: number): string {
  if (seconds === 1) return '1 second';
  return seconds <= 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Returns whether the server responds now. If it does, a failure to load has another cause than the connection. */
export async function isReachable(): Promise<boolean> {
  try {
    const { ok } = await fetch(document.baseURI, { method: 'HEAD', cache: 'no-store' });
    return ok;
  } catch {
    return false;
  }
}
