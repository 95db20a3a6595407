export { SitePage } from './site.tsx';
