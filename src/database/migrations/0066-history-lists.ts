import type { ColumnTypes } from './column-types.ts';
import { rowTriggers } from './row-triggers.ts';

type Dialect = 'sqlite' | 'postgres';

/** Histories of an account are read from an index for each of their filters, also if few entries match. */
export function historyLists(t: ColumnTypes, dialect: Dialect): string[] {
  return [...activity(), ...operations(t, dialect), ...incidents(t, dialect)];
}

/** The kind of an action with its full stop: the rest has only these letters. Both databases have this function. */
const KIND = "rtrim(action, 'abcdefghijklmnopqrstuvwxyz_')";

function activity(): string[] {
  return [
    'drop index activity_account',
    'create index activity_account on activity (account_id, at, seq)',
    `create index activity_kind on activity (account_id, ${KIND}, at, seq)`,
    'create index activity_user on activity (account_id, user_id, at, seq)',
    'create index activity_install on activity (account_id, install_id, at, seq)',
  ];
}

const outcomeOf = (state: string, errorCode: string) =>
  `case when ${state} in ('failed', 'cancelled') then ${state} when ${state} = 'succeeded' and ${errorCode} is not null then 'failed' end`;

/** Failed and cancelled operations are few, and jobs have their states. Operations without them are written once less. */
function operations(t: ColumnTypes, dialect: Dialect): string[] {
  const byJob = outcomeOf('new.state', 'error_code');
  const own = `(select ${outcomeOf('job.state', 'new.error_code')} from jobs as job where job.id = new.job_id)`;
  return [
    `alter table operations add column outcome ${t.text}`,
    `update operations set outcome = known.outcome
      from (
        select operation.seq, ${outcomeOf('job.state', 'operation.error_code')} as outcome
          from operations as operation join jobs as job on job.id = operation.job_id
      ) as known
      where known.seq = operations.seq and known.outcome is not null`,
    'create index operations_outcome on operations (account_id, outcome, seq) where outcome is not null',
    'create index operations_kind on operations (account_id, kind, seq)',
    ...rowTriggers(dialect, 'outcome', 'jobs', [
      {
        on: 'update',
        of: ['state'],
        run: `update operations set outcome = ${byJob} where job_id = new.id and outcome is distinct from ${byJob};`,
      },
    ]),
    ...rowTriggers(dialect, 'outcome', 'operations', [
      {
        on: 'update',
        of: ['job_id', 'error_code'],
        run: `update operations set outcome = ${own} where seq = new.seq and outcome is distinct from ${own};`,
      },
    ]),
  ];
}

/** Incidents name the account of their install, so that an index has them in their order. */
function incidents(t: ColumnTypes, dialect: Dialect): string[] {
  const owner = '(select account_id from installs where id = uptime_incidents.install_id)';
  return [
    `alter table uptime_incidents add column account_id ${t.uuid}`,
    `update uptime_incidents set account_id = ${owner}`,
    'create index uptime_incidents_account on uptime_incidents (account_id, seq) where confirmed_at is not null',
    'create index uptime_incidents_open on uptime_incidents (account_id, seq) where ended_at is null',
    ...rowTriggers(dialect, 'owner', 'uptime_incidents', [
      { on: 'insert', run: `update uptime_incidents set account_id = ${owner} where seq = new.seq;` },
    ]),
    ...rowTriggers(dialect, 'incidents', 'installs', [
      {
        on: 'update',
        of: ['account_id'],
        run: 'update uptime_incidents set account_id = new.account_id where install_id = new.id;',
      },
    ]),
  ];
}
