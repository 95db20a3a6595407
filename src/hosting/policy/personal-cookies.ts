/** Cookies of visitors who get individual pages. */
const NAMES = [
  'wordpress_logged_in',
  'wordpress_sec',
  'wp-postpass',
  'comment_author',
  'woocommerce_items_in_cart',
  'woocommerce_cart_hash',
  'wp_woocommerce_session',
  'edd_items_in_cart',
];

/** Characters that PHP turns into `_` in the names of cookies, so WordPress recognises `comment author_1`, too. */
const UNDERSCORE = '[_ .[]';

/** Plugins ask caches to stay away by a cookie whose name contains this. */
const NO_CACHE = '[^=;]*no[-_ .[]?cache';

/**
 * Sessions, carts and logins of other plugins have such names. Analytics, which are not personal here, begin theirs with `_` or
 * `sbjs_` (WooCommerce).
 */
const SESSION = '(?!_|sbjs_)[^=;]*(?:sess|session|cart|basket|login|token)(?:[-_ .[]?(?:id|key|hash))?\\s*=';

/** Patterns of a personal cookie from its name on: `exact` in this case, `loose` in any. */
export const PERSONAL_COOKIES = {
  exact: NAMES.join('|').replaceAll('_', UNDERSCORE),
  loose: `${NO_CACHE}|${SESSION}`,
};

const EXACT = new RegExp(`^(?:${PERSONAL_COOKIES.exact})`);
const LOOSE = new RegExp(`^(?:${PERSONAL_COOKIES.loose})`, 'i');
/** The patterns take quadratic time for a longer name. */
const LONGEST_NAME = 200;

/** Whether a `Cookie` header has a cookie of a visitor who gets individual pages. */
export function hasPersonalCookie(header: string | undefined): boolean {
  if (header === undefined) return false;
  return header.split(';').some((part) => {
    const [name = ''] = part.trimStart().split('=', 1);
    if (name.length > LONGEST_NAME) return true;
    const named = part.includes('=') ? `${name}=` : name;
    return EXACT.test(named) || LOOSE.test(named);
  });
}
