import { type Expression, type ExpressionBuilder, sql } from 'kysely';
import { type ParameterOf, parameterFiller, placeholder, type Transaction } from '../database/database.ts';
import type { JobClass, JobState } from '../database/tables/jobs.ts';
import type { Tables } from '../database/tables.ts';
import { isFirstOfItsLane } from './lanes.ts';
import { type ClaimedJob, claimed, claimedColumns } from './leases.ts';

export interface Claim {
  workerId: string;
  kinds: readonly string[];
  class: JobClass;
  /** ISO 8601. */
  now: string;
  leaseUntil: string;
  /** Limit on claimed jobs. */
  limit: number;
  /** Limit on running jobs of one share in this worker. */
  limitOfOneShare: number;
  /** Running jobs of this worker, by share. */
  running: ReadonlyMap<string, number>;
  /** The share that had the last turn; '' without one. */
  cursor: string;
}

/**
 * Claims due jobs of one class and counts their attempt. Each share gives one job in turn, starting behind `cursor`: its
 * oldest that is the first of its lane. The turns continue until `limit` is reached or no share has more. Also returns
 * the share that had the last turn.
 *
 * If two processes claim jobs of one lane at the same moment, the unique index `jobs.lane` refuses one, whose whole
 * claim fails.
 */
export async function claimDue(
  transaction: Transaction,
  claim: Claim,
): Promise<{ jobs: ClaimedJob[]; cursor: string }> {
  // PostgreSQL's statistics are mostly of an empty queue, so it would sort all due jobs, which is slow with a backlog.
  // This setting makes it walk the index.
  if (transaction.dialect === 'postgres') await sql`set local enable_sort = off`.execute(transaction.queries);
  const running = new Map(claim.running);
  const jobs: ClaimedJob[] = [];
  let { cursor } = claim;
  while (jobs.length < claim.limit) {
    const full = [...running].filter(([, count]) => count >= claim.limitOfOneShare).map(([share]) => share);
    const round = await takeRound(transaction, claim, { cursor, full, limit: claim.limit - jobs.length });
    if (round.length === 0) break;
    for (const { share } of round) running.set(share, (running.get(share) ?? 0) + 1);
    jobs.push(...round);
    cursor = lastTurn(round, cursor);
  }
  return { jobs, cursor };
}

const queued = sql.lit<JobState>('queued');
/**
 * More than the number of shares. A subquery with a limit is not merged into the outer one, which would evaluate it
 * twice.
 */
const ALL = sql.lit(1_000_000);

type Of<Alias extends string> = ExpressionBuilder<Tables & Record<Alias, Tables['jobs']>, Alias>;

/** The parameters of a round. Rounds that differ only in them share a statement. */
type Turn = Pick<Claim, 'cursor' | 'now' | 'workerId' | 'leaseUntil'>;

/** A compiled round, which is called with its turn. */
type Round = (turn: Turn) => ReturnType<typeof compileRound>;

/** By kinds, and by class and limit. Compiling a round takes several times as long as running it. Workers of the same kinds share them. */
const compiledRounds = new Map<string, Map<string, Round>>();

/** Claims at most one job of each share. */
async function takeRound(
  transaction: Transaction,
  claim: Claim,
  { cursor, full, limit }: { cursor: string; full: string[]; limit: number },
): Promise<ClaimedJob[]> {
  const round = roundFor(transaction, claim, full, limit);
  const { rows } = await transaction.queries.executeQuery(round({ ...claim, cursor }));
  return rows.toSorted((a, b) => a.seq - b.seq).map(claimed);
}

function roundFor(transaction: Transaction, claim: Claim, full: readonly string[], limit: number): Round {
  // Any shares may be full, so that statement is hardly ever the same again.
  if (full.length > 0) return filled(compileRound(transaction, claim, full, limit));
  const kinds = claim.kinds.join();
  const known = compiledRounds.get(kinds) ?? new Map<string, Round>();
  compiledRounds.set(kinds, known);
  const key = `${transaction.dialect} ${claim.class} ${limit}`;
  const round = known.get(key) ?? filled(compileRound(transaction, claim, full, limit));
  known.set(key, round);
  return round;
}

function filled(compiled: ReturnType<typeof compileRound>): Round {
  const fill = parameterFiller(compiled);
  return (turn) => ({ ...compiled, parameters: fill(turn) });
}

function compileRound(
  { queries, dialect }: Transaction,
  claim: Pick<Claim, 'class' | 'kinds'>,
  full: readonly string[],
  limit: number,
) {
  const parameter: ParameterOf<Turn> = (name) => sql.val<Turn[typeof name]>(placeholder(name));
  /** Matches the condition of the index `jobs_turns` exactly, with its first column. */
  const isClaimable = (eb: Of<'head'>) =>
    eb.and([
      eb('head.class', '=', sql.lit(claim.class)),
      eb('head.state', '=', queued),
      eb('head.behind', '=', sql.lit(false)),
    ]);
  const nextShare = (after: Expression<string>) =>
    queries
      .selectFrom('jobs as head')
      .select('head.share')
      .where(isClaimable)
      .where('head.share', '>', after)
      .orderBy('head.share')
      .limit(sql.lit(1));
  const oldest = (share: Expression<string>) =>
    queries
      .selectFrom('jobs as head')
      .select('head.id')
      .where(isClaimable)
      .where('head.share', '=', share)
      .where('head.run_at', '<=', parameter('now'))
      .where('head.kind', 'in', claim.kinds)
      .where(isFirstOfItsLane)
      .orderBy('head.run_at')
      .orderBy('head.seq')
      .limit(sql.lit(1))
      .$if(dialect === 'postgres', (head) => head.forUpdate('head').skipLocked());

  return queries
    .withRecursive('ahead(share)', (query) =>
      query.selectNoFrom(nextShare(parameter('cursor')).as('share')).unionAll(
        query
          .selectFrom('ahead')
          .where('ahead.share', 'is not', null)
          .select((eb) => nextShare(eb.ref('ahead.share').$castTo<string>()).as('share')),
      ),
    )
    .withRecursive('around(share)', (query) =>
      query.selectNoFrom(nextShare(sql.val('')).as('share')).unionAll(
        query
          .selectFrom('around')
          .where('around.share', '<=', parameter('cursor'))
          .select((eb) => nextShare(eb.ref('around.share').$castTo<string>()).as('share')),
      ),
    )
    .with('due', (query) =>
      query
        .selectFrom((from) =>
          from
            .selectFrom((turns) =>
              turns
                .selectFrom('ahead')
                .select('ahead.share')
                .where('ahead.share', 'is not', null)
                .unionAll(
                  turns
                    .selectFrom('around')
                    .select('around.share')
                    .where('around.share', '<=', parameter('cursor')),
                )
                .as('turns'),
            )
            .$if(full.length > 0, (turns) => turns.where('turns.share', 'not in', full))
            .select((eb) => oldest(eb.ref('turns.share').$castTo<string>()).as('id'))
            .limit(ALL)
            .as('heads'),
        )
        .select('heads.id')
        .where('heads.id', 'is not', null)
        // A literal: with a parameter as limit, PostgreSQL plans to read the whole table.
        .limit(sql.lit(limit)),
    )
    .updateTable('jobs')
    .from('due')
    .whereRef('jobs.id', '=', 'due.id')
    .set((eb) => ({
      state: 'running',
      attempt: eb('jobs.attempt', '+', 1),
      worker_id: parameter('workerId'),
      lease_until: parameter('leaseUntil'),
      started_at: parameter('now'),
    }))
    .returning([...claimedColumns, 'jobs.seq'])
    .compile();
}

/** The last share that had a turn. Shares behind the cursor come first, then the others from the beginning. */
function lastTurn(round: readonly ClaimedJob[], cursor: string): string {
  const shares = round.map(({ share }) => share).sort();
  const wrapped = shares.filter((share) => share <= cursor);
  return (wrapped.length > 0 ? wrapped : shares).at(-1) ?? cursor;
}
