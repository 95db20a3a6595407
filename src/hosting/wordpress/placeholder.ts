/** Values of a prepared WordPress that each website replaces by its own. */
export const PLACEHOLDER = {
  hostname: 'website.homeport.invalid',
  origin: 'http://website.homeport.invalid',
  email: 'admin@website.homeport.invalid',
  title: 'homeport-title-of-the-website',
  user: 'admin',
} as const;
