import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { startTestHomeport } from '../homeport.ts';
import type { Platform } from '../operations/platform.ts';
import type { TestMachine } from './machine.ts';

const run = promisify(execFile);

/** Starts a Linux host on this machine with a control plane beside it. Its `remove` removes the machine as well. */
export async function startPlatform(machine: TestMachine): Promise<Platform> {
  let passed = 0;
  await machine.start({ clock: { now: () => new Date(Date.now() + passed) } });
  const homeport = await startTestHomeport({ environment: machine.environment });
  const { edgeHttp, edgeHttps, siteDomain } = machine.config;
  return {
    homeport,
    edge: { http: edgeHttp.port, https: edgeHttps.port },
    siteDomain,
    // As on a machine that listens on the usual ports.
    addressOf: (name) => `http://${name}`,
    copiedAddressOf: (name) => `http://${name}:${edgeHttp.port}`,
    async write({ id, name }, path, content) {
      const file = join(machine.folder, 'installs', id, 'htdocs', path);
      const script = 'mkdir -p "$1" && cat > "$2"';
      const command = ['-u', name, '--', 'sh', '-c', script, '-', dirname(file), file];
      const writing = run('runuser', command);
      writing.child.stdin?.end(content);
      await writing;
    },
    async refuseChanges({ id }) {
      const socket = linuxLayout(machine.folder, machine.runFolder).mariadbSocket;
      await run('mariadb', [
        `--socket=${socket}`,
        `hp_${id.replaceAll('-', '')}`,
        '-e',
        "CREATE TRIGGER no BEFORE UPDATE ON wp_posts FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not now'",
      ]);
    },
    passTime(ms) {
      passed += ms;
    },
    async remove() {
      await homeport.remove();
      await machine.remove();
    },
  };
}
