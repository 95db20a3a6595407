import { type ReactNode, useEffect, useState } from 'react';
import { DownloadLink } from './button.tsx';

/** A link that downloads a text of the page as a file. */
export function TextDownload({
  text,
  type,
  name,
  children,
}: {
  text: string;
  type: string;
  name: string;
  children: ReactNode;
}) {
  const [href, setHref] = useState<string | null>(null);
  useEffect(() => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    setHref(url);
    return () => URL.revokeObjectURL(url);
  }, [text, type]);
  if (href === null) return null;
  return (
    <DownloadLink href={href} name={name} small>
      {children}
    </DownloadLink>
  );
}
