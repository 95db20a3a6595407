import { pinFolder } from '../../runtime/linux/pinned-folder.ts';

const NAME = 'logs';
const TARGET = '../logs';

/** Creates `private/logs`, which leads to the logs, unless the customer has put something else in its place. */
export async function linkLogs(privateFolder: string): Promise<void> {
  const folder = await pinFolder(privateFolder);
  try {
    if ((await folder.stat(NAME)).type === 'none') await folder.link(NAME, TARGET);
  } finally {
    await folder.close();
  }
}
