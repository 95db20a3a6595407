import type { OffloadPath } from '../contract/install-state.ts';

/** The cases of the rule for offloaded paths, which every edge must follow. */

export const OFFLOAD_PATHS: OffloadPath[] = [
  { path: '/uploads', excludedPaths: ['/uploads/private/', '/uploads/a'], redirectType: 'break' },
  { path: '/uploads/big/', excludedPaths: ['/uploads/big/own'], redirectType: 'permanent' },
  { path: '/dl//', excludedPaths: [], redirectType: 'permanent' },
  { path: '/odd.(x)%$', excludedPaths: [], redirectType: 'break' },
  { path: '/uploads', excludedPaths: [], redirectType: 'permanent' },
];

export type OffloadCase = [path: string, redirectType: OffloadPath['redirectType'] | null];

export const OFFLOAD_CASES: OffloadCase[] = [
  ['/uploads/x.png', 'break'],
  ['/uploads', 'break'],
  ['/uploads/', null],
  ['/uploads/sub/', null],
  ['/uploads/big/x.iso', 'permanent'],
  ['/uploads/big/own', null],
  ['/uploads/big/own/x', null],
  ['/uploads/big/owner', 'permanent'],
  ['/uploads/bigger.iso', 'break'],
  ['/uploads/abc', 'break'],
  ['/dl/x', 'permanent'],
  ['/uploads/private/x', null],
  ['/uploads/private', null],
  ['/uploads/privates', 'break'],
  ['/uploads/a', null],
  ['/uploads/a/b', null],
  ['/uploadsx/y', null],
  ['/Uploads/x', null],
  ['/odd.(x)%$', 'break'],
  ['/odd.(x)%$/é', 'break'],
  ['/oddX(x)%$', null],
  ['/other', null],
  ['/', null],
];

/** A rule for everything, and one within. */
export const OFFLOAD_EVERYTHING: OffloadPath[] = [
  { path: '/', excludedPaths: ['/wp-admin'], redirectType: 'break' },
  { path: '/a', excludedPaths: ['/'], redirectType: 'break' },
];

export const OFFLOAD_EVERYTHING_CASES: OffloadCase[] = [
  ['/x', 'break'],
  ['/wp-admin/x', null],
  ['/a/b', null],
  ['/', null],
];
