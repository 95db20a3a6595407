import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { type DemoPortal, startDemoPortal } from '../test/demo-portal.ts';
import { createReport } from './measure/report.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench:portal`: the portal on a slow connection, without a cache, in the Chromium of the browser tests: first contentful paint,
 * time until a list is filled, and layout shifts. Chromium delays each response and limits the bandwidth.
 */
const LATENCY_MS = 400;
const BYTES_PER_SECOND = 1_600_000 / 8;
/** The median of these is reported. */
const RUNS = 5;
/** Sites beside those of the demo. */
const SITES = 60;

const Measured = Type.Object({ paint: Type.Number(), filled: Type.Number(), shift: Type.Number() });

/** Runs in the page from its start. `filled` is when the first row of a table or its link stands in the main part. */
const OBSERVE = `
  window.measured = { paint: 0, filled: 0, shift: 0 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === 'first-contentful-paint') measured.paint = entry.startTime;
  }).observe({ type: 'paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) measured.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  new MutationObserver((_, observer) => {
    if (!document.querySelector('main tbody tr')) return;
    measured.filled = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
`;

const report = createReport('portal');

async function open(portal: DemoPortal, path: string) {
  const context = await portal.signIn({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const devTools = await context.newCDPSession(page);
  await devTools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: BYTES_PER_SECOND,
    uploadThroughput: BYTES_PER_SECOND,
  });
  await page.addInitScript(OBSERVE);
  await page.goto(path, { waitUntil: 'commit' });
  await page.locator('main tbody tr').first().waitFor({ timeout: 60_000 });
  // Notices and the second load of lists may still move the page.
  await page.waitForTimeout(3_000);
  const measured = Value.Parse(Measured, await page.evaluate('measured'));
  await context.close();
  return measured;
}

const portal = await startDemoPortal();
try {
  const { services } = portal.homeport;
  for (let index = 0; index < SITES; index++) {
    await services.sites.create(portal.owner, { name: `Website ${index}`, account_id: portal.accountId });
  }
  report.part(`The portal at ${LATENCY_MS} ms and 1.6 Mbit/s, nothing cached`);
  for (const list of ['sites', 'installs']) {
    const runs: Static<typeof Measured>[] = [];
    for (let run = 0; run < RUNS; run++)
      runs.push(await open(portal, `/accounts/${portal.accountId}/${list}`));
    const of = (figure: keyof Static<typeof Measured>) => runs.map((run) => run[figure]);
    const all = (values: number[], digits = 0) => values.map((value) => value.toFixed(digits)).join(' ');
    report.figure({
      what: `${list}: first contentful paint`,
      value: median(of('paint')),
      unit: 'ms',
      measured: all(of('paint')),
      goal: { atMost: 1_000 },
    });
    report.figure({
      what: `${list}: list filled`,
      value: median(of('filled')),
      unit: 'ms',
      measured: all(of('filled')),
      goal: { atMost: 2_500 },
    });
    report.figure({
      what: `${list}: layout shift`,
      value: Math.max(...of('shift')),
      unit: 'ratio',
      measured: all(of('shift'), 3),
      goal: { atMost: 0.05 },
    });
  }
  report.end();
  report.finish();
} finally {
  await portal.stop();
}
