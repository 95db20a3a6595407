import type { ColumnTypes } from './column-types.ts';

/**
 * Updates of WordPress, plugins and themes, the policies of installs for them, the rollouts of WordPress releases, and
 * how hosts fetch them.
 */
export function wordpressUpdates(t: ColumnTypes): string[] {
  return [
    `create table wordpress_update_policies (
      install_id ${t.uuid} not null primary key references installs (id) on delete cascade,
      core ${t.text} not null check (core in ('none', 'security', 'minor', 'all')),
      plugins ${t.text} not null check (plugins in ('none', 'weekly', 'daily')),
      themes ${t.text} not null check (themes in ('none', 'weekly', 'daily')),
      maintenance_window ${t.json},
      pages ${t.json} not null,
      plugins_at ${t.time},
      themes_at ${t.time},
      updated_at ${t.time} not null
    )`,
    `create table wordpress_updates (
      seq ${t.seq},
      id ${t.uuid} not null constraint wordpress_updates__id unique,
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      cause ${t.text} not null check (cause in ('request', 'schedule')),
      status ${t.text} not null
        check (status in ('requested', 'running', 'succeeded', 'unnecessary', 'rolled_back', 'failed', 'cancelled')),
      wanted ${t.json} not null,
      core_to ${t.text},
      checkpoint_id ${t.uuid},
      made ${t.json} not null,
      broken ${t.json},
      reason ${t.text},
      created_at ${t.time} not null,
      finished_at ${t.time}
    )`,
    'create index wordpress_updates_install on wordpress_updates (install_id, seq)',
    `create index wordpress_updates_open on wordpress_updates (install_id)
      where status in ('requested', 'running')`,
    `create index wordpress_updates_core on wordpress_updates (core_to, status) where core_to is not null`,
    'create index wordpress_updates_age on wordpress_updates (created_at)',
    `create table core_rollouts (
      version ${t.text} not null primary key,
      stopped_at ${t.time},
      reason ${t.text},
      resumed_at ${t.time},
      created_at ${t.time} not null
    )`,
    `create table release_fetches (
      host_id ${t.uuid} not null primary key references hosts (id) on delete cascade,
      fetched_at ${t.time} not null,
      reason ${t.text}
    )`,
  ];
}
