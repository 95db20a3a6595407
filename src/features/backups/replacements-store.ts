import { type SqlBool, sql } from 'kysely';
import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import type { JobState } from '../../database/tables/jobs.ts';
import { copyInstall, importWebsite, restoreBackup } from './jobs.ts';
import { partsOfJob } from './replaced-parts.ts';

/** The jobs that replace a website or parts of it. */
const REPLACING = [restoreBackup.name, copyInstall.name, importWebsite.name];

/** The literal condition of the indexes on finished jobs. */
export const FINISHED = sql<SqlBool>`state in ('succeeded', 'failed', 'cancelled')`;

/** A job of a website's lane that has ended. */
export interface EndedJob {
  seq: number;
  kind: string;
  lane: string | null;
  payload: unknown;
  state: JobState;
  error: string | null;
  finished_at: string | null;
}

/** The replacements of websites that have ended, and the ended jobs of further kinds, in the order of their ends. */
export async function endedReplacements(
  queries: Queries,
  lanes: readonly string[],
  furtherKinds: readonly string[] = [],
): Promise<EndedJob[]> {
  const ended = await queries
    .selectFrom('jobs')
    .select(['seq', 'kind', 'lane', 'payload', 'state', 'error', 'finished_at'])
    .where('lane', 'in', lanes)
    .where('kind', 'in', [...REPLACING, ...furtherKinds])
    .where(FINISHED)
    .execute();
  return ended.sort((one, other) => endOf(one) - endOf(other) || one.seq - other.seq);
}

const endOf = ({ finished_at }: EndedJob) => Date.parse(finished_at ?? '');

/** The parts of a website that have not been replaced as a whole. Some tables are not the database. */
export class MissingParts {
  #files = true;
  #database = true;

  /** Counts an ended job. Returns whether nothing is missing any more. */
  isCompleteAfter({ kind, payload, state }: Pick<EndedJob, 'kind' | 'payload' | 'state'>): boolean {
    if (state !== 'succeeded') return false;
    const { files, database } = replacedBy(kind, payload);
    if (files) this.#files = false;
    if (database) this.#database = false;
    return !this.#files && !this.#database;
  }
}

function replacedBy(kind: string, payload: unknown): { files: boolean; database: boolean } {
  if (kind === importWebsite.name) return { files: true, database: true };
  const type = [restoreBackup, copyInstall].find(({ name }) => name === kind);
  if (type === undefined || !Value.Check(type.payload, payload)) return { files: false, database: false };
  const { files, paths, database } = partsOfJob(payload);
  return { files: files && paths === undefined, database: database === 'all' };
}
