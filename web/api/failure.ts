/** One fault of what was sent, at its field. */
export interface FieldError {
  field: string;
  message: string;
}

/** An answer that is no success, in the words of the server. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly status: number;
  readonly faults: FieldError[];
  /** When trying again may help; null where the server said nothing. */
  readonly retryAfterSeconds: number | null;
  /** For whoever looks the cause up in the log. */
  readonly requestId: string | null;
  constructor(response: Response, envelope: { message: string; errors?: FieldError[] }) {
    super(envelope.message);
    this.status = response.status;
    this.faults = envelope.errors ?? [];
    const retry = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterSeconds = Number.isNaN(retry) ? null : retry;
    this.requestId = response.headers.get('x-request-id');
  }
}

/** No server answered, or not to the end. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** What a page itself objects to, before or instead of the server; told as it is. */
export class FormError extends Error {
  override readonly name = 'Objection';
  readonly faults: FieldError[];
  constructor(sentence: string, faults: FieldError[] = []) {
    super(sentence);
    this.faults = faults;
  }
}

interface Answer<Data> {
  data?: Data;
  error?: { message: string; errors?: FieldError[] } | string;
  response: Response;
}

/** The body of a success. Throws ApiFailure, Unreachable. */
export async function unwrap<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const answer = await call.catch(unanswered);
  if (!answer.response.ok) throw failureOf(answer);
  if (answer.data === undefined) throw new Error(`${answer.response.url} answered with nothing`);
  return answer.data;
}

/** The same where a success has no body. */
export async function unwrapEmpty(call: Promise<Answer<unknown>>): Promise<void> {
  const answer = await call.catch(unanswered);
  if (!answer.response.ok) throw failureOf(answer);
}

/** Returns null for a 404, and throws any other error again. */
export function nullFor404(error: unknown): null {
  if (error instanceof ApiFailure && error.status === 404) return null;
  throw error;
}

/** The browser's word for it is a TypeError, which elsewhere is a fault of a program. */
function unanswered(error: unknown): never {
  throw error instanceof TypeError ? new Unreachable(error.message, { cause: error }) : error;
}

function failureOf({ error, response }: Answer<unknown>): ApiFailure {
  const envelope = typeof error === 'object' ? error : { message: `The server answered ${response.status}` };
  return new ApiFailure(response, envelope);
}

/** So many faults are told in one notice; of more it is said that they are there, and each stands at its field. */
const FEW = 3;

/** What a person is told of whatever went wrong. A fault of the pages' own stands on the browser's console besides. */
export function errorMessage(error: unknown): string {
  if (error instanceof FormError) return error.message;
  if (error instanceof Unreachable) {
    return 'The server cannot be reached. Look at your connection, and try again.';
  }
  if (error instanceof ApiFailure) return sentenceOf(error);
  console.error(error);
  return 'This has failed by a fault of the portal’s own. Load the page again; if it stays so, tell your provider.';
}

/** The same of one of several things that were asked for in one request. */
export function refusalMessage(refusal: { message: string; retry_after_seconds: number | null }): string {
  const { message, retry_after_seconds } = refusal;
  return retry_after_seconds === null ? sentence(message) : waitSentence(message, retry_after_seconds);
}

function waitSentence(message: string, seconds: number): string {
  const [, what = 'Too many requests'] = /^(.*) - please wait/.exec(message) ?? [];
  return `${what}. Try again in ${waitingTime(seconds)}.`;
}

function sentenceOf({ status, message, faults, retryAfterSeconds, requestId }: ApiFailure): string {
  if (status === 429) return waitSentence(message, retryAfterSeconds ?? 60);
  if (status >= 500) {
    return `${sentence(message)} If it stays so, tell your provider${requestId === null ? '' : ` this number: ${requestId}`}.`;
  }
  const told = [...new Set(faults.map((fault) => sentence(inWords(fault))))];
  return told.length === 0 || told.length > FEW ? sentence(message) : told.join(' ');
}

/** A fault whose sentence begins with the name of its field, `path_settings.0.path`, with a name that people know: `Path`. */
function inWords({ field, message }: FieldError): string {
  if (!message.startsWith(`${field} `)) return message;
  const name = field.split('.').findLast((part) => !/^\d+$/.test(part)) ?? field;
  return `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}${message.slice(field.length)}`;
}

/** What is wrong with each field, all of it, each thing once. `fieldOf`: where the server's field has another name. */
export function messagesByField(
  faults: readonly FieldError[],
  fieldOf: (field: string) => string,
): Record<string, string> {
  const byField = Object.groupBy(faults, ({ field }) => fieldOf(field));
  return Object.fromEntries(
    Object.entries(byField).map(([field, of = []]) => {
      const sentences = new Set(of.map((fault) => sentence(inWords(fault))));
      return [field, [...sentences].join(' ')];
    }),
  );
}

/** "40 seconds", "12 minutes": as exact as somebody who waits needs it. */
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
