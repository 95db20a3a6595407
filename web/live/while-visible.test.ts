import { expect, it } from 'vitest';
import { whileVisible } from './while-visible.ts';

class FakePage extends EventTarget {
  hidden = false;
  show(shown: boolean): void {
    this.hidden = !shown;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

function watch(page = new FakePage()) {
  const done: string[] = [];
  const leave = whileVisible(() => {
    done.push('begun');
    return () => done.push('ended');
  }, page);
  return { page, done, leave };
}

it('begins at once, ends when the page is hidden, and begins again when shown', () => {
  const { page, done, leave } = watch();
  expect(done).toEqual(['begun']);
  page.show(false);
  expect(done).toEqual(['begun', 'ended']);
  page.show(true);
  page.show(true);
  expect(done).toEqual(['begun', 'ended', 'begun']);
  leave();
  expect(done).toEqual(['begun', 'ended', 'begun', 'ended']);
  page.show(true);
  expect(done).toHaveLength(4);
});

it('waits if the page was opened in the background', () => {
  const page = new FakePage();
  page.hidden = true;
  const { done, leave } = watch(page);
  expect(done).toEqual([]);
  page.show(true);
  page.show(false);
  leave();
  expect(done).toEqual(['begun', 'ended']);
});
