// Chromium, driven by playwright-core: WARMWARDEN_TEST_CHROMIUM names it, else Debian's. With CI set, none is a failure.
import { type Browser, chromium } from 'playwright-core';
import { isInstalled } from './debian.ts';

const executablePath = process.env['WARMWARDEN_TEST_CHROMIUM'] ?? '/usr/bin/chromium';

export function hasBrowser(): boolean {
  return isInstalled(executablePath);
}

/** Without a sandbox: tests run as root in containers, and open nothing but their own server. */
export function openBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'];
  return chromium.launch({ executablePath, args });
}
