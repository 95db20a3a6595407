import type { EdgeFigures, StatusClass } from '../../contract/figures.ts';

/** An answer of the edge to a visitor. */
export interface EdgeAnswer {
  /** 0 if the visitor left before an answer. */
  status: number;
  bytes: number;
  /** Whether the page cache answered; null if it was not asked. */
  isHit: boolean | null;
}

/** Counts the answers of a host's edge since the start of its process. */
export interface EdgeCounts {
  add(answer: EdgeAnswer): void;
  figures(): EdgeFigures;
}

export function createEdgeCounts(): EdgeCounts {
  const answers = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, none: 0 };
  let bytes = 0;
  let cacheRequests = 0;
  let cacheHits = 0;
  return {
    add(answer) {
      answers[classOf(answer.status)] += 1;
      bytes += answer.bytes;
      if (answer.isHit === null) return;
      cacheRequests += 1;
      if (answer.isHit) cacheHits += 1;
    },
    figures: () => ({ answers: { ...answers }, bytes, cacheRequests, cacheHits }),
  };
}

const CLASSES: readonly StatusClass[] = ['2xx', '3xx', '4xx', '5xx'];

/** An answer that switches protocols counts as a success. */
function classOf(status: number): StatusClass {
  if (status < 100) return 'none';
  return CLASSES[Math.floor(status / 100) - 2] ?? '2xx';
}

/** How nginx and the embedded edge name answers from the page cache. */
const HITS = ['HIT', 'REVALIDATED', 'STALE', 'UPDATING'];

export const isCacheHit = (cache: string): boolean => HITS.includes(cache);
