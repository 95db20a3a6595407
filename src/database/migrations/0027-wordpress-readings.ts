import { notifying, writing } from './0005-change-feed.ts';
import type { ColumnTypes } from './column-types.ts';

/** The parts of each install's WordPress, as its host last read them. */
export function wordpressReadings(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  return [
    `create table wordpress_readings (
      install_id ${t.uuid} primary key references installs (id) on delete cascade,
      reading ${t.json},
      core_version ${t.text},
      core_update ${t.text},
      plugin_updates ${t.integer} not null default 0,
      theme_updates ${t.integer} not null default 0,
      read_at ${t.time},
      updates_checked_at ${t.time},
      updates_error ${t.text},
      health_examined_at ${t.time},
      error ${t.text},
      tried_at ${t.time},
      mark ${t.text},
      due_at ${t.time} not null
    )`,
    'create index wordpress_readings_due on wordpress_readings (due_at)',
    ...(dialect === 'postgres' ? notifying : writing)({
      topic: 'install',
      table: 'wordpress_readings',
      events: ['insert', 'update'],
      what: 'select account_id, id, id, null from installs where id = it.install_id',
    }),
  ];
}
