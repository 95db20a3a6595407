/** One fault of what was sent, at its field. */
export interface Fault {
  field: string;
  message: string;
}

/** An answer that is no success, in the words of the server. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly status: number;
  readonly faults: Fault[];
  /** When trying again may help; null where the server said nothing. */
  readonly retryAfterSeconds: number | null;
  /** For whoever looks the cause up in the log. */
  readonly requestId: string | null;
  constructor(response: Response, envelope: { message: string; errors?: Fault[] }) {
    super(envelope.message);
    this.status = response.status;
    this.faults = envelope.errors ?? [];
    const retry = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterSeconds = Number.isNaN(retry) ? null : retry;
    this.requestId = response.headers.get('x-request-id');
  }
}

/** What a page itself objects to, before or instead of the server; told as it is. */
export class Objection extends Error {
  override readonly name = 'Objection';
  readonly faults: Fault[];
  constructor(sentence: string, faults: Fault[] = []) {
    super(sentence);
    this.faults = faults;
  }
}

interface Answer<Data> {
  data?: Data;
  error?: { message: string; errors?: Fault[] } | string;
  response: Response;
}

/** The body of a success. Throws ApiFailure; the browser's TypeError where no server answers. */
export async function answered<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const answer = await call;
  if (!answer.response.ok) throw failureOf(answer);
  if (answer.data === undefined) throw new Error(`${answer.response.url} answered with nothing`);
  return answer.data;
}

/** The same where a success has no body. */
export async function done(call: Promise<Answer<unknown>>): Promise<void> {
  const answer = await call;
  if (!answer.response.ok) throw failureOf(answer);
}

function failureOf({ error, response }: Answer<unknown>): ApiFailure {
  const envelope = typeof error === 'object' ? error : { message: `The server answered ${response.status}` };
  return new ApiFailure(response, envelope);
}

/** What a person is told of whatever went wrong. */
export function sentenceFor(error: unknown): string {
  if (error instanceof Objection) return error.message;
  if (error instanceof ApiFailure) {
    if (error.status === 429) {
      return `Too many requests. Try again in ${error.retryAfterSeconds ?? 60} seconds.`;
    }
    if (error.status >= 500) {
      return `${error.message}. If it stays so, tell your provider this number: ${error.requestId ?? 'unknown'}.`;
    }
    const [first, ...more] = error.faults;
    return first && more.length === 0 ? sentence(first.message) : sentence(error.message);
  }
  return 'The server cannot be reached. Look at your connection, and try again.';
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
