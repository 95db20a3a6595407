import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder that is a WordPress as far as a core must be one. */
export async function smallWordPress(folder: string, version: string): Promise<string> {
  for (const inner of ['wp-admin/includes', 'wp-includes', 'wp-content/themes/plain']) {
    await mkdir(join(folder, inner), { recursive: true });
  }
  const files = {
    'index.php': '<?php',
    'license.txt': 'GPL',
    'wp-load.php': '<?php',
    'wp-login.php': '<?php',
    'wp-settings.php': '<?php',
    'wp-cron.php': '<?php',
    'wp-admin/includes/upgrade.php': '<?php',
    'wp-content/themes/plain/style.css': 'body{}',
    'wp-includes/script.js': 'core()',
    'wp-includes/version.php': `<?php\n$wp_version = '${version}';\n`,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}
