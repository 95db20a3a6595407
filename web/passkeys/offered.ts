/** An IPv4 address, or an IPv6 address in brackets. */
const IP_ADDRESS = /^[\d.]+$|^\[/;

/** Returns whether this browser can use passkeys at this address: they need HTTPS or localhost, and a host name. */
export const arePasskeysOffered = (): boolean =>
  window.isSecureContext && 'PublicKeyCredential' in window && !IP_ADDRESS.test(window.location.hostname);

/** Loads the script that talks to the browser's passkeys, which most pages do not need. */
export const loadPasskeys = () => import('./ask-browser.ts');
