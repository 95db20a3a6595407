import { expect, it } from 'vitest';
import { withPage } from './recent-pages.ts';

it('lists the last pages once, newest first', () => {
  const page = (href: string) => ({ href, title: href });
  const nine = Array.from({ length: 9 }, (_, index) => page(`/${index}`));
  const pages = nine.reduce((list: ReturnType<typeof withPage>, left) => withPage(list, left), []);
  expect(pages.map(({ href }) => href)).toEqual(['/8', '/7', '/6', '/5', '/4', '/3', '/2', '/1']);
  expect(withPage(pages, { href: '/5', title: 'renamed' }).slice(0, 3)).toEqual([
    { href: '/5', title: 'renamed' },
    page('/8'),
    page('/7'),
  ]);
});
