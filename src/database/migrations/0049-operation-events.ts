import { eventTrigger } from './0025-event-triggers.ts';
import type { ColumnTypes } from './column-types.ts';

/**
 * An operation has one event of its end, also if it failed although its job did its work, and if a job that failed was cancelled
 * meanwhile. Both are known after the job has ended, in the same transaction.
 */
export function operationEvents(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  const trigger = {
    table: 'jobs',
    on: 'update',
    of: ['state'],
    subject: 'operation_id',
    data: { operation_id: 'operation_id', kind: 'kind' },
  } as const;
  return [
    // Of earlier transactions, whose events have no position yet.
    `update events set type = 'operation.failed' where position is null and type = 'operation.succeeded'
      and subject_id in (select id from operations where error_code is not null)`,

    ...['succeeded', 'failed'].flatMap((state) => withoutFormer(state, dialect)),
    ...eventTrigger(
      {
        ...trigger,
        type: 'operation.succeeded',
        when: `it.state = 'succeeded'`,
        from: `${OPERATION} and error_code is null`,
      },
      t,
      dialect,
    ),
    ...eventTrigger(
      {
        ...trigger,
        type: 'operation.failed',
        when: `it.state in ('succeeded', 'failed')`,
        from: `${OPERATION} and (it.state = 'failed' or error_code is not null)`,
      },
      t,
      dialect,
    ),

    ...correction(dialect, {
      name: 'events_operations_failed',
      on: 'update of error_code on operations',
      when: 'old.error_code is null and new.error_code is not null',
      statement: `update events set type = 'operation.failed'
        where position is null and subject_id = new.id and type = 'operation.succeeded';`,
    }),
    ...correction(dialect, {
      name: 'events_jobs_cancelled',
      on: 'update of state on jobs',
      when: `old.state = 'failed' and new.state = 'cancelled'`,
      statement: `delete from events where position is null and type = 'operation.failed'
        and subject_id in (select id from operations where job_id = new.id);`,
    }),
  ];
}

const OPERATION =
  'select account_id, install_id, id as operation_id, kind from operations where job_id = it.id';

function withoutFormer(state: string, dialect: 'sqlite' | 'postgres'): string[] {
  const former = `events_jobs_operation_${state}_update`;
  return dialect === 'postgres'
    ? [`drop trigger ${former} on jobs`, `drop function homeport_${former}()`]
    : [`drop trigger ${former}`];
}

/** The statements that create a trigger. It corrects an event of the same transaction, which has no position yet. */
function correction(
  dialect: 'sqlite' | 'postgres',
  { name, on, when, statement }: { name: string; on: string; when: string; statement: string },
): string[] {
  const head = `create trigger ${name} after ${on} for each row when (${when})`;
  if (dialect === 'sqlite') return [`${head} begin ${statement} end`];
  return [
    `create function homeport_${name}() returns trigger language plpgsql as $$ begin ${statement} return null; end $$`,
    `${head} execute function homeport_${name}()`,
  ];
}
