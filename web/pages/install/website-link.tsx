import buttonStyles from '../../components/button.module.css';

/** A link that opens a website in a new tab. */
export function WebsiteLink({ href }: { href: string }) {
  return <ExternalLink href={href} label="Open website" />;
}

/** A link that opens the WordPress admin in a new tab. */
export function AdminLink({ websiteUrl }: { websiteUrl: string }) {
  return <ExternalLink href={new URL('wp-admin/', websiteUrl).href} label="WordPress admin" />;
}

function ExternalLink({ href, label }: { href: string; label: string }) {
  return (
    <a className={buttonStyles.button} href={href} target="_blank" rel="noopener">
      {label} <span aria-hidden="true">↗</span>
      <span className="visually-hidden"> in a new tab</span>
    </a>
  );
}
