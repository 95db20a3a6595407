import type { ColumnTypes } from './column-types.ts';

/** Activity entries keep the name of their install, which may be deleted later. */
export function activityInstallNames(t: ColumnTypes): string[] {
  return [
    `alter table activity add column install_name ${t.text}`,
    // Entries of deleted installs get the name from the entries about the install itself.
    `update activity set install_name = named.name
      from (
        select subject_id as id, max(subject_name) as name from activity
          where subject_id = install_id and action like 'install.%'
          group by subject_id
      ) as named
      where activity.install_id = named.id`,
    `update activity set install_name = (select name from installs where installs.id = activity.install_id)
      where install_id is not null and install_name is null`,
  ];
}
