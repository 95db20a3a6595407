import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queries } from './database.ts';

/** Installs in one range: few enough that a query about each of them takes some milliseconds. */
const LENGTH = 200;

/** A part of all installs, by their `seq`. */
export interface InstallRange {
  /** Before the first. */
  after: number;
  /** The last. */
  to: number;
}

/** All installs in ranges, in the order of their creation, for work that looks at each of them. Other work goes on in between. */
export async function* installRanges(queries: Queries): AsyncGenerator<InstallRange> {
  for (let after = 0; ; await nextTurn()) {
    const { to } = await queries
      .selectFrom((eb) =>
        eb
          .selectFrom('installs')
          .select('seq')
          .where('seq', '>', after)
          .orderBy('seq')
          .limit(LENGTH)
          .as('range'),
      )
      .select((eb) => eb.fn.max<number | null>('seq').as('to'))
      .executeTakeFirstOrThrow();
    if (to === null) return;
    yield { after, to };
    after = to;
  }
}
