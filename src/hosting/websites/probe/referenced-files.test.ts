import { expect, test } from 'vitest';
import { firstLinkedPage, referencedFiles } from './referenced-files.ts';

const HOME = new URL('https://shop.test/');
const NAMES = ['shop.test', '*.shop.test'];

test('scripts and stylesheets of plugins and themes on the own website, once each', () => {
  const body = `
    <link rel='stylesheet' id='a' href='https://shop.test/wp-content/themes/a/style.css?ver=1&#038;x=2' media='all' />
    <link href="/wp-content/plugins/b/b.css" rel="stylesheet">
    <link rel="icon" href="/wp-content/uploads/icon.css">
    <link rel="stylesheet" href="https://cdn.test/wp-content/c.css">
    <script defer src="/wp-content/plugins/b/b.js"></script><script src="/wp-content/plugins/b/b.js"></script>
    <script src="https://img.shop.test/wp-content/d.mjs"></script>
    <script src="/wp-includes/js/jquery.js"></script><script src="data:text/javascript,1"></script>`;
  expect(referencedFiles(body, HOME)).toEqual([
    '/wp-content/themes/a/style.css?ver=1&x=2',
    '/wp-content/plugins/b/b.css',
    '/wp-content/plugins/b/b.js',
  ]);
});

test('the first page in the menu, and no link that does something', () => {
  const body = `<a href="#main">Skip</a><a class="l" href="https://shop.test/">Home</a><a href="/wp-login.php">In</a>
    <a href="/cart/">Cart</a><a href="/shop/?add-to-cart=1">Add</a><a href="/a.pdf">PDF</a>
    <a href="https://other.test/x/">Other</a><a href="mailto:a@shop.test">Mail</a><a href="/about/">About</a>`;
  expect(firstLinkedPage(body, HOME, NAMES)).toBe('/about/');
  expect(firstLinkedPage('<p>Nothing</p>', HOME, NAMES)).toBeNull();
});
