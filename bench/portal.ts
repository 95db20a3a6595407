import type { CDPSession, Page } from 'playwright-core';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { type DemoPortal, startDemoPortal } from '../test/demo-portal.ts';
import { createReport } from './measure/report.ts';
import { seedInstalls } from './measure/seed.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench -- portal`: the portal on a slow connection, without a cache, in the Chromium of the browser tests. Measures the scripts
 * of each first page, first contentful paint, time until a list is filled, and layout shifts. Chromium delays each response and limits
 * the bandwidth. Then it scrolls the list of 5,000 installs without a limit.
 */
const LATENCY_MS = 400;
const BYTES_PER_SECOND = 1_600_000 / 8;
/** The median of these is reported. */
const RUNS = 3;
/** Sites beside those of the demo. */
const SITES = 60;
const INSTALLS = 5_000;
/** Screens have a frame each 16.7 ms. */
const FRAME_MS = 1_000 / 60;
const SCROLL_MS = 4_000;

const Measured = Type.Object({ paint: Type.Number(), filled: Type.Number(), shift: Type.Number() });
const Waterfall = Type.Array(
  Type.Object({ path: Type.String(), begin: Type.Number(), end: Type.Number(), bytes: Type.Number() }),
);
const Frames = Type.Array(Type.Number());

/** Runs in the page from its start. `filled` is when what the page is opened for stands in the main part. */
const observe = (wanted: string) => `
  window.measured = { paint: 0, filled: 0, shift: 0 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === 'first-contentful-paint') measured.paint = entry.startTime;
  }).observe({ type: 'paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) measured.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  new MutationObserver((_, observer) => {
    if (!document.querySelector('${wanted}')) return;
    measured.filled = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
`;

const WATERFALL = `
  [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map((entry) => ({
    path: new URL(entry.name).pathname, begin: entry.startTime, end: entry.responseEnd, bytes: entry.transferSize,
  }))
`;

/** Scrolls the page to its end and back, a few pixels in each frame, and returns how long each frame took. */
const SCROLL = `
  new Promise((resolve) => {
    const frames = [];
    const began = performance.now();
    let before = began;
    let step = 12;
    const next = (now) => {
      frames.push(now - before);
      before = now;
      const { scrollTop, scrollHeight, clientHeight } = document.documentElement;
      if (scrollTop + clientHeight >= scrollHeight - 1) step = -12;
      if (scrollTop <= 0) step = 12;
      window.scrollBy(0, step);
      if (now - began < ${SCROLL_MS}) requestAnimationFrame(next);
      else resolve(frames.slice(1));
    };
    requestAnimationFrame(next);
  })
`;

/** A page that people open first. `wanted`: what it is opened for. */
interface FirstPage {
  name: string;
  path: string;
  wanted: string;
  isSignedOut?: true;
}

const firstPages = (accountId: string): FirstPage[] => [
  { name: 'sign-in', path: '/', wanted: 'main form', isSignedOut: true },
  { name: 'home', path: `/accounts/${accountId}/home`, wanted: 'main section li a' },
  { name: 'sites', path: `/accounts/${accountId}/sites`, wanted: 'main tbody tr' },
  { name: 'installs', path: `/accounts/${accountId}/installs`, wanted: 'main tbody tr' },
];

const report = createReport('portal');

async function contextFor(portal: DemoPortal, isSignedOut = false) {
  const context = await portal.signIn({ viewport: { width: 1440, height: 900 } });
  if (isSignedOut) await context.clearCookies();
  const page = await context.newPage();
  return { context, page, devTools: await context.newCDPSession(page) };
}

/** Adds up the bytes of the scripts that a page loads, as they come over the wire. */
async function countScripts(devTools: CDPSession): Promise<() => number> {
  const scripts = new Set<string>();
  let bytes = 0;
  devTools.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId);
  });
  devTools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength;
  });
  await devTools.send('Network.enable');
  return () => bytes;
}

async function open(portal: DemoPortal, { path, wanted, isSignedOut }: FirstPage) {
  const { context, page, devTools } = await contextFor(portal, isSignedOut);
  const bytes = await countScripts(devTools);
  await devTools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: BYTES_PER_SECOND,
    uploadThroughput: BYTES_PER_SECOND,
  });
  await page.addInitScript(observe(wanted));
  await page.goto(path, { waitUntil: 'commit' });
  await page.locator(wanted).first().waitFor({ timeout: 60_000 });
  const scripts = bytes();
  // Notices and the second load of lists may still move the page.
  await page.waitForTimeout(3_000);
  const measured = Value.Parse(Measured, await page.evaluate('measured'));
  const waterfall = Value.Parse(Waterfall, await page.evaluate(WATERFALL));
  await context.close();
  return { ...measured, scripts, waterfall };
}

async function reportFirstPage(portal: DemoPortal, first: FirstPage): Promise<void> {
  const { name } = first;
  const runs: Awaited<ReturnType<typeof open>>[] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await open(portal, first));
  const of = (figure: keyof Static<typeof Measured>) => runs.map((run) => run[figure]);
  const all = (values: number[], digits = 0) => values.map((value) => value.toFixed(digits)).join(' ');
  report.figure({
    what: `${name}: scripts until it is filled`,
    value: Math.max(...runs.map(({ scripts }) => scripts)) / 1_000,
    unit: 'kB',
    goal: { atMost: 90 },
  });
  report.figure({
    what: `${name}: first contentful paint`,
    value: median(of('paint')),
    unit: 'ms',
    measured: all(of('paint')),
    goal: { atMost: 1_000 },
  });
  report.figure({
    what: `${name}: filled`,
    value: median(of('filled')),
    unit: 'ms',
    measured: all(of('filled')),
    goal: { atMost: 2_500 },
  });
  report.figure({
    what: `${name}: layout shift`,
    value: Math.max(...of('shift')),
    unit: 'ratio',
    measured: all(of('shift'), 3),
    goal: { atMost: 0.05 },
  });
  const last = runs.at(-1)?.waterfall ?? [];
  report.grid(
    [name.toUpperCase(), 'BEGIN', 'END', 'BYTES'],
    last.map(({ path, begin, end, bytes }) => [path, begin.toFixed(), end.toFixed(), String(bytes)]),
  );
}

/** Scrolls the list without a limit of the network. */
async function reportScrolling(portal: DemoPortal): Promise<void> {
  const { context, page } = await contextFor(portal);
  await page.goto(`/accounts/${portal.accountId}/installs`);
  await page.getByText(/^50\d\d installs$/).waitFor();
  const rows = await page.locator('main tbody tr').count();
  const frames = Value.Parse(Frames, await scrolled(page));
  await context.close();
  const missed = frames.reduce((sum, frame) => sum + Math.max(0, Math.round(frame / FRAME_MS) - 1), 0);
  report.figure({
    what: `scrolling ${rows} of ${INSTALLS} installs: missed frames`,
    value: missed / (frames.length + missed),
    unit: 'ratio',
    measured: `${missed} of ${frames.length + missed}; longest ${Math.max(...frames).toFixed(1)} ms, median ${median(frames).toFixed(1)} ms`,
    goal: { atMost: 0.02 },
  });
}

async function scrolled(page: Page): Promise<unknown> {
  // What loads after the list may render again.
  await page.waitForLoadState('load');
  await page.waitForTimeout(1_000);
  return page.evaluate(SCROLL);
}

const portal = await startDemoPortal({ HOMEPORT_INSTALL_RUNTIME: 'static' });
try {
  const { platform, services } = portal.homeport;
  for (let index = 0; index < SITES; index++) {
    await services.sites.create(portal.owner, { name: `Website ${index}`, account_id: portal.accountId });
  }
  for (const first of firstPages(portal.accountId)) {
    report.part(`${first.name} at ${LATENCY_MS} ms and 1.6 Mbit/s, nothing cached`);
    await reportFirstPage(portal, first);
    report.end();
  }
  report.part('Frames of a long list');
  const ids = Array.from({ length: INSTALLS }, () => crypto.randomUUID());
  await seedInstalls(platform.database, portal.accountId, ids);
  await reportScrolling(portal);
  report.end();
  report.finish();
} finally {
  await portal.stop();
}
