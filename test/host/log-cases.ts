import { readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { asUser } from '../../src/hosting/linux/isolation/sandbox.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { CommandError, runCommand } from '../../src/lib/run-command.ts';
import { field } from '../client.ts';
import { visit } from '../edge.ts';
import type { Person } from '../homeport.ts';
import type { TestMachine } from './machine.ts';

interface LoggedWebsite {
  machine: TestMachine;
  owner: Person;
  install: { id: string; name: string };
}

/** Cases of the logs of a website, which keeps serving. */
export function testLogs(website: () => LoggedWebsite): void {
  const machine = () => website().machine;
  const owner = () => website().owner;
  const install = () => website().install;
  const layout = () => linuxLayout(machine().folder, machine().runFolder);

  async function page(path: string, headers: Record<string, string> = {}): Promise<number> {
    const { edgeHttp, edgeHttps, sshListen } = machine().config;
    const hosting = { edgeHttp, edgeHttps, ssh: sshListen };
    return (await visit({ hosting }, `http://${install().name}.sites.test${path}`, headers)).status;
  }

  const entries = async (rest: string) => {
    const answer = await owner().client.get(`/installs/${install().id}/logs/${rest}`);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return field(answer.body, 'results');
  };

  /** Polls, because nginx writes its log each second. */
  const eventually = (work: () => Promise<void>) => vi.waitFor(work, { timeout: 20_000, interval: 300 });

  /** Runs a program as the install's user. */
  async function asInstall(...command: string[]): Promise<string> {
    const [program = '', ...args] = asUser(await ids(), command);
    return (await runCommand(program, args)).stdout;
  }

  async function ids(): Promise<{ uid: number; gid: number }> {
    const { stdout } = await runCommand('stat', ['-c', '%u %g', layout().privateOf(install().id)]);
    const [uid = 0, gid = 0] = stdout.split(' ').map(Number);
    return { uid, gid };
  }

  describe('logs', () => {
    test('requests are in the access log, found by text and status, without their queries', async () => {
      expect(await page('/missing-page?token=secret', { 'User-Agent': 'Test"} {"\\n' })).toBe(404);
      await eventually(async () =>
        expect(await entries('access?search=MISSING-page&status=4xx')).toMatchObject([
          {
            address: '127.0.0.1',
            method: 'GET',
            host: `${install().name}.sites.test`,
            path: '/missing-page',
            status: 404,
            cache: 'MISS',
            php_seconds: expect.any(Number),
            user_agent: 'Test"} {"\\n',
          },
        ]),
      );
      expect(JSON.stringify(await entries('access'))).not.toContain('secret');
      expect(await entries('access?search=missing-page&status=200')).toEqual([]);
    });

    test("PHP's errors are entries, also with several lines", async () => {
      const file = join(layout().htdocsOf(install().id), 'fatal.php');
      await writeFile(file, '<?php error_log("two\\nlines"); throw new Exception("on purpose");');
      expect(await page('/fatal.php')).toBe(500);
      await eventually(async () =>
        expect(await entries('php?limit=2')).toMatchObject([
          { level: 'error', message: expect.stringMatching(/on purpose[\s\S]*Stack trace:[\s\S]*thrown in/) },
          { level: 'message', message: 'two\nlines' },
        ]),
      );
      const log = join(layout().privateOf(install().id), 'php-error.log');
      await rm(log);
      await symlink('/etc/shadow', log);
      expect(JSON.stringify(await entries('php'))).not.toContain('root:');
      await rm(log);
    });

    test('the install can read its logs, and neither change nor replace them', async () => {
      const link = join(layout().privateOf(install().id), 'logs');
      await eventually(async () => expect(await readlink(link)).toBe('../logs'));
      const [name = ''] = (await readdir(layout().logsOf(install().id))).filter((file) =>
        file.startsWith('access-'),
      );
      expect(await asInstall('cat', join(link, name))).toContain('/missing-page');
      for (const command of [
        ['rm', '-f', join(link, name)],
        ['touch', join(link, 'new')],
        ['truncate', '-s', '0', join(link, name)],
        ['mv', layout().logsOf(install().id), join(layout().homeOf(install().id), 'other')],
      ]) {
        await expect(asInstall(...command), command.join(' ')).rejects.toThrow(CommandError);
      }
    });
  });
}
