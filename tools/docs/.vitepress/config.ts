import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { slugOf } from '../links.ts';
import type { Section } from '../sections.ts';
import { titleOf } from '../stage.ts';

const FOLDER = join(import.meta.dirname, '..');
const sections: Section[] = JSON.parse(readFileSync(join(FOLDER, 'navigation.json'), 'utf8'));
const titleAt = (path: string) =>
  titleOf(readFileSync(join(FOLDER, 'pages', path), 'utf8')).replace(/^Decisions: /, '');

export default {
  title: 'Homeport',
  description: 'Self-hosted WordPress hosting: documentation',
  srcDir: 'pages',
  cleanUrls: true,
  // Anchors are those of GitHub, and text in angle brackets is text.
  markdown: { html: false, anchor: { slugify: slugOf } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorials', link: '/tutorials/agency' },
      { text: 'Operators', link: '/operations' },
      { text: 'API reference', link: '/reference/' },
    ],
    sidebar: sections.map(({ title, pages, collapsed }) => ({
      text: title,
      collapsed: collapsed ?? false,
      items: pages.map(({ path }) => ({
        text: titleAt(path),
        link: `/${path.replace(/(index)?\.md$/, '')}`,
      })),
    })),
  },
};
