import { eventTrigger } from './0025-event-triggers.ts';
import type { ColumnTypes } from './column-types.ts';

/**
 * Tags of sites: as written, and their keys between line breaks, which filters search. A change of tags is an event.
 */
export function siteTags(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  const former = 'events_sites_site_updated_update';
  return [
    `alter table sites add column tags ${t.json} not null default '[]'`,
    `alter table sites add column tag_keys ${t.text} not null default ''`,
    ...(dialect === 'postgres'
      ? [`drop trigger ${former} on sites`, `drop function homeport_${former}()`]
      : [`drop trigger ${former}`]),
    ...eventTrigger(
      {
        type: 'site.updated',
        table: 'sites',
        on: 'update',
        of: ['name', 'tags'],
        // A transfer clears the tags. It has its own event.
        when: 'old.account_id = new.account_id',
        subject: 'it.id',
        data: { site_id: 'it.id', name: 'it.name' },
      },
      t,
      dialect,
    ),
  ];
}
