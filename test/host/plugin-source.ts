import type { InstallRef } from '../../src/hosting/contract/install-ref.ts';
import { createDatabases } from '../../src/hosting/linux/daemons/databases.ts';
import type { LinuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import {
  type CustomerFiles,
  PLUGIN,
  putPlugin,
} from '../../src/hosting/websites/changes/plugin-source.fixture.ts';

/** Activates version 1.0 of a plugin on a website, whose updates come from the website's own files. */
export async function installPlugin(
  layout: LinuxLayout,
  { id }: Pick<InstallRef, 'id'>,
): Promise<CustomerFiles> {
  const folders = { root: layout.htdocsOf(id), private: layout.privateOf(id) };
  const files = await putPlugin({ ...folders, seenPrivate: folders.private });
  await activatePlugins(layout, { id }, [PLUGIN]);
  return files;
}

/** Activates these plugins alone, without any code of theirs. */
export async function activatePlugins(
  layout: LinuxLayout,
  { id }: Pick<InstallRef, 'id'>,
  files: readonly string[],
): Promise<void> {
  const active = files.map((file, at) => `i:${at};s:${file.length}:"${file}";`).join('');
  await createDatabases({ layout }).query(
    `hp_${id.replaceAll('-', '')}`,
    `UPDATE wp_options SET option_value = 'a:${files.length}:{${active}}' WHERE option_name = 'active_plugins'`,
  );
}
