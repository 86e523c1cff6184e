// The icon: a mailbox flame in a shield, drawn by hand.

export const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M16 2 28 6v9c0 8-5 12.6-12 15C9 27.600 4 23 4 15V6z" fill="#b4531a"/><path d="M16.500 8c.8 3.200 5 5 5 9.600A5.500 5.500 0 0 1 16 23a5.500 5.500 0 0 1-5.500-5.400c0-2.600 1.500-3.800 2.300-5.600.9.800 1.300 1.600 1.500 2.600 1.500-1.500 2.300-3.900 2.200-6.600z" fill="#fff3e2"/></svg>\n`;
