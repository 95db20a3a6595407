import type { Report } from '../measure/report.ts';
import { filesOf, phpProcesses } from './php-processes.ts';
import { drawPicture } from './picture.ts';
import type { Platform } from './platform.ts';

const SITE = 'soaked';
/** At the same time, for a second thread. */
const TOGETHER = 40;
/** Of the soak: memory is read as often. */
const READINGS = 10;
/** WordPress makes three smaller pictures of it. */
const PICTURE = drawPicture(1_024, 768);

type Ask = (number: number) => Promise<{ status: number }>;

interface Reading {
  phpMb: number;
  phpFiles: number;
  ownMb: number;
  ownFiles: number;
}

/** Sends `count` requests to one website: a mix of what visitors and an administrator do. */
export async function measureSoak(platform: Platform, report: Report, count: number): Promise<void> {
  report.part(`${count.toLocaleString('en')} requests to one website`);
  await platform.ensure(SITE);
  const kinds = await mixOf(platform);
  const statuses = new Map<number, number>();
  const readings: Reading[] = [];
  for (let number = 0; number < count; number++) {
    const { status } = (await kinds[number % kinds.length]?.(number)) ?? { status: 0 };
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    // The first tenth fills caches.
    if ((number + 1) % Math.ceil(count / READINGS) === 0) {
      readings.push(reading(platform));
      process.stderr.write(`${number + 1} requests: ${JSON.stringify(readings.at(-1))}\n`);
    }
  }
  addFigures(report, statuses, readings);
  await Promise.all(Array.from({ length: TOGETHER }, (_, number) => platform.visit(SITE, `/?two=${number}`)));
  report.figure({
    what: 'memory of its process with two threads',
    value: reading(platform).phpMb,
    unit: 'MB',
    goal: { atMost: 440 },
  });
  report.note('The memory of Homeport grows with its cache of pages, up to a limit.');
  report.end();
}

async function mixOf({ visit, signIn }: Platform): Promise<Ask[]> {
  const { cookie, nonce } = await signIn(SITE);
  const json = { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' };
  return [
    () => visit(SITE, '/'),
    () => visit(SITE, '/hello-world/'),
    (number) => visit(SITE, `/?soak=${number}`),
    () => visit(SITE, '/wp-login.php', { headers: { cookie: 'wordpress_test_cookie=1' } }),
    () => visit(SITE, '/wp-json/wp/v2/posts'),
    () => visit(SITE, '/wp-includes/css/dashicons.min.css'),
    (number) =>
      visit(SITE, '/wp-json/wp/v2/posts', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ title: `Soak ${number}`, status: number % 20 === 6 ? 'publish' : 'draft' }),
      }),
    (number) =>
      visit(SITE, '/wp-comments-post.php', {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ comment: `Soak ${number}`, comment_post_ID: '1' }).toString(),
      }),
    (number) =>
      visit(SITE, '/wp-json/wp/v2/media', {
        method: 'POST',
        headers: {
          ...json,
          'content-type': 'image/png',
          'content-disposition': `attachment; filename="soak${number}.png"`,
        },
        body: PICTURE,
      }),
    () => visit(SITE, '/wp-admin/', { headers: { cookie } }),
  ];
}

function addFigures(report: Report, statuses: Map<number, number>, readings: Reading[]): void {
  const [before, after] = [readings[0], readings.at(-1)];
  if (before === undefined || after === undefined) throw new Error('there was no request');
  const each = (name: keyof Reading) => readings.map((one) => one[name]).join(', ');
  const failures = [...statuses].filter(([status]) => status >= 400 || status === 0);
  report.figure({
    what: 'failed requests',
    value: failures.reduce((sum, [, number]) => sum + number, 0),
    unit: 'count',
    measured: [...statuses].map(([status, number]) => `${number} × ${status}`).join(', '),
    goal: { atMost: 0 },
  });
  report.figure({
    what: 'memory of its process with one thread',
    value: after.phpMb,
    unit: 'MB',
    measured: each('phpMb'),
    goal: { atMost: 320 },
  });
  report.figure({
    what: 'its open files',
    value: after.phpFiles - before.phpFiles,
    unit: 'count',
    measured: each('phpFiles'),
    goal: { atMost: 0 },
  });
  report.figure({
    what: 'memory of Homeport',
    value: after.ownMb,
    unit: 'MB',
    measured: each('ownMb'),
  });
  report.figure({
    what: 'its open files (Homeport)',
    value: after.ownFiles - before.ownFiles,
    unit: 'count',
    measured: each('ownFiles'),
    goal: { atMost: 2 },
  });
}

/** The process of the website is the one that has used the most processor time. */
function reading({ pid, residentMb }: Platform): Reading {
  const [most] = phpProcesses(pid).toSorted((one, other) => other.cpuMs - one.cpuMs);
  if (most === undefined) throw new Error('no process of PHP runs');
  return {
    phpMb: most.megabytes,
    phpFiles: filesOf(most.id),
    ownMb: Math.round(residentMb()),
    ownFiles: filesOf(pid),
  };
}
