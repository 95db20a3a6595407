import { finished, type Readable } from 'node:stream';
import type { HttpResponse } from '../../../network/connections/http-messages.ts';

/** Facts about an answer for the access log that are not in its head. */
interface AnswerRecord {
  /** Null without the page cache. */
  cache: string | null;
  /** Milliseconds of PHP and the object storage so far; null if neither was asked. */
  upstreamMs: number | null;
  /** When the present one was asked. */
  askedAtMs: number | null;
}

/** Kept beside responses, because parts that answer know nothing of logs. */
const records = new WeakMap<HttpResponse, AnswerRecord>();

function recordOf(response: HttpResponse): AnswerRecord {
  const known = records.get(response);
  if (known !== undefined) return known;
  const begun = { cache: null, upstreamMs: null, askedAtMs: null };
  records.set(response, begun);
  return begun;
}

/** Notes what the page cache did for an answer. */
export function noteCache(response: HttpResponse, cache: 'HIT' | 'MISS' | 'BYPASS'): void {
  recordOf(response).cache = cache;
}

/** Counts the time that PHP or the object storage takes for an answer: until its body has ended. */
export async function timed<Answer>(
  response: HttpResponse,
  ask: () => Promise<Answer>,
  bodyOf: (answer: Answer) => Readable | null | undefined,
): Promise<Answer> {
  const record = recordOf(response);
  record.askedAtMs = performance.now();
  const end = (): void => {
    record.upstreamMs = millisecondsOf(record);
    record.askedAtMs = null;
  };
  try {
    const answer = await ask();
    const body = bodyOf(answer);
    if (body) finished(body, end);
    else end();
    return answer;
  } catch (error) {
    end();
    throw error;
  }
}

const NOTHING = { cache: null, upstreamMs: null };

/** The notes about an answer until now. */
export function noted(response: HttpResponse): { cache: string | null; upstreamMs: number | null } {
  const record = records.get(response);
  if (record === undefined) return NOTHING;
  return { cache: record.cache, upstreamMs: millisecondsOf(record) };
}

function millisecondsOf({ upstreamMs, askedAtMs }: AnswerRecord): number | null {
  return askedAtMs === null ? upstreamMs : (upstreamMs ?? 0) + performance.now() - askedAtMs;
}
