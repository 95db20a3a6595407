import { expect, it } from 'vitest';
import { hasPersonalCookie } from './personal-cookies.ts';

it('finds cookies of logins, carts and sessions, however they are written', () => {
  const personal = [
    'wordpress_logged_in_abc=1',
    'a=1; wordpress sec=2',
    'a=1;woocommerce.items_in_cart=1',
    'PHPSESSID=x',
    'my_cart=1',
    'App-Token=1',
    'plugin_NoCache=1',
    `${'a'.repeat(300)}=1`,
  ];
  expect(personal.filter((header) => !hasPersonalCookie(header))).toEqual([]);
});

it('takes those of analytics for what every visitor has', () => {
  const common = [
    undefined,
    '',
    '_ga=session',
    'sbjs_session=1',
    'theme=cart',
    '_session_id=1',
    'consent=yes',
  ];
  expect(common.filter(hasPersonalCookie)).toEqual([]);
});
