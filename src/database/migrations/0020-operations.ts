import { notifying, type Telling, writing } from './0005-change-feed.ts';
import type { ColumnTypes } from './column-types.ts';

/** Operations: what users see of jobs (jobs/operations-store.ts). Those of present jobs are filled in. */
export function operations(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  const tell = dialect === 'postgres' ? notifying : writing;
  return [
    `alter table jobs add column reason_code ${t.text}`,

    `create table operations (
      seq ${t.seq},
      id ${t.uuid} not null constraint operations__id unique,
      kind ${t.text} not null,
      job_id ${t.uuid} not null references jobs (id) on delete cascade,
      account_id ${t.uuid} not null,
      install_id ${t.uuid},
      install_name ${t.text},
      progress_done ${t.integer},
      progress_total ${t.integer},
      progress_unit ${t.text} check (progress_unit in ('bytes', 'files')),
      result ${t.json},
      error_code ${t.text},
      error_message ${t.text},
      created_at ${t.time} not null,
      constraint operations__job_id unique (job_id)
    )`,
    'create index operations_account on operations (account_id, seq)',
    'create index operations_install on operations (install_id, seq)',

    `insert into operations (id, kind, job_id, account_id, install_id, install_name, created_at)
      select job.id,
        case job.kind
          when 'provision_install' then 'install.create'
          when 'apply_install' then 'install.apply'
          when 'switch_wordpress' then 'wordpress.update'
          when 'create_backup' then 'backup.create'
          when 'restore_backup' then 'backup.restore'
          when 'purge_cache' then 'cache.purge'
          when 'configure_offload' then 'offload.configure'
          else 'install.copy'
        end,
        job.id, install.account_id, install.id, install.name, job.created_at
      from jobs as job
      join (
        select id, account_id, name, cast(id as text) as lane from installs
        union all select id, account_id, name, 'copies:' || cast(id as text) from installs
      ) as install on install.lane = job.lane
      where job.kind in ('provision_install', 'apply_install', 'switch_wordpress', 'create_backup', 'restore_backup',
          'purge_cache', 'configure_offload', 'copy_install')
        or (job.kind = 'prepare_copy' and job.state <> 'succeeded')
      order by job.seq`,

    // Events of operations replace those of jobs.
    `drop trigger changes_jobs_insert${dialect === 'postgres' ? ' on jobs' : ''}`,
    `drop trigger changes_jobs_update${dialect === 'postgres' ? ' on jobs' : ''}`,
    ...(dialect === 'postgres' ? ['drop function homeport_tell_jobs()'] : []),
    ...tellings.flatMap(tell),
  ];
}

const tellings: Telling[] = [
  {
    topic: 'operation',
    table: 'jobs',
    events: ['update'],
    of: ['state', 'attempt', 'reason'],
    what: 'select account_id, install_id, id, null from operations where job_id = it.id',
  },
  {
    topic: 'operation',
    table: 'operations',
    events: ['insert', 'update'],
    of: ['job_id', 'progress_done', 'progress_total'],
    what: 'select it.account_id, it.install_id, it.id, null',
  },
];
