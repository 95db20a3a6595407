import { Page } from '../../components/page.tsx';
export function SitePage(_: { siteId: string }) {
  return <Page title="SitePage">…</Page>;
}
