import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../lib/durable-file.ts';
import { hasCode } from '../../lib/error-code.ts';
import { ifThere } from '../../lib/if-there.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import { escapeHtml, htmlPage } from '../policy/pages.ts';
import type { Layout } from './host-folder/layout.ts';
import { removeTree } from './snapshots/archive-exchange.ts';

/** Creates and deletes the folders of installs. */
export interface WebsiteFiles {
  /** Creates the document root with a starter page, if missing. Existing files stay untouched. */
  provide(install: InstallRef): Promise<void>;
  /** Deletes all files of an install, and its logs, atomically. */
  remove(installId: string): Promise<void>;
}

export function createWebsiteFiles(layout: Layout): WebsiteFiles {
  return {
    async provide({ id, name }) {
      const files = layout.filesOf(id);
      if ((await ifThere(lstat(files))) !== null) return;
      const folder = layout.installOf(id);
      // Created under another name, so that a document root never exists without its page.
      const beginning = join(folder, '.provisioning');
      await removeTree(beginning);
      await mkdir(beginning, { recursive: true, mode: 0o700 });
      await writeSynced(join(beginning, 'index.html'), starterPage(name));
      await syncFolder(beginning);
      await rename(beginning, files);
      await syncFolder(folder);
      await syncFolder(layout.installs);
    },

    async remove(installId) {
      await mkdir(layout.trash, { recursive: true, mode: 0o700 });
      for (const folder of [layout.installOf(installId), layout.logsOf(installId)]) {
        try {
          await rename(folder, join(layout.trash, `${installId}.${randomUUID()}`));
          await syncFolder(dirname(folder));
        } catch (error) {
          if (!hasCode(error, 'ENOENT')) throw error;
        }
      }
      // Leftovers of an interrupted removal are here too.
      for (const name of await readdir(layout.trash)) {
        if (name.startsWith(`${installId}.`)) await removeTree(join(layout.trash, name));
      }
    },
  };
}

async function writeSynced(path: string, content: string): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The first page of a new website, with its name. The owner replaces it. */
function starterPage(installName: string): string {
  const name = escapeHtml(installName);
  return htmlPage(
    installName,
    `<h1>${name}</h1>
<p>This website is ready. It has no content yet.</p>
<p><small>If it is yours: sign in by SFTP as <code>${name}</code> and replace <code>index.html</code>.</small></p>`,
  );
}
