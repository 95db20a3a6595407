/** A path of this website, or an address with HTTP. In characters that may stand in a URL. */
export const REDIRECT_TARGET =
  '^(/(?!/)|https?://[A-Za-z0-9])[\\x21\\x23-\\x3b\\x3d\\x3f-\\x5b\\x5d\\x5f\\x61-\\x7a\\x7e]*$';
