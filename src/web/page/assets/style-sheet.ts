// Style of every page: light and dark, calm colours, one column on a phone. Served as /assets/style.css.

export const styleSheet = `
:root{color-scheme:light dark;--ground:#f6f5f2;--card:#fff;--ink:#1f2328;--soft:#5a626c;--line:#e3e1db;--track:#eceae4;
--link:#1d5bb0;--red:#b3261e;--amber:#8a5a00;--green:#1b6e42;--blue:#1d5bb0;--violet:#6a47a6;--grey:#5a626c;--brand:#b4531a;--tint:10%}
@media (prefers-color-scheme:dark){:root{--ground:#12151a;--card:#191d23;--ink:#e7e9ec;--soft:#a0a8b3;--line:#2b313a;--track:#2b313a;
--link:#8ab8ff;--red:#ff8a80;--amber:#f0b849;--green:#6fd19b;--blue:#8ab8ff;--violet:#c3a6ff;--grey:#a0a8b3;--brand:#f08a4b;--tint:16%}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
p{margin:.2rem 0}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:.18em}
a:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:4px}
h1{font-size:1.7rem;line-height:1.25;font-weight:650;letter-spacing:-.015em;margin:.1rem 0 .4rem;text-wrap:balance}
h2{font-size:.95rem;font-weight:650;margin:0 0 .7rem}
h2 small{font-weight:400;color:var(--soft)}
.wrap{max-width:78rem;margin:0 auto;padding:0 1.25rem}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.4rem .8rem;z-index:1}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.muted,small{color:var(--soft)}
small{font-size:.82rem}
.good{color:var(--green)}
.bad{color:var(--red)}
.top .wrap{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.2rem 1rem;padding-top:1rem;padding-bottom:.75rem}
.brand{white-space:nowrap;display:inline-flex;align-items:center;gap:.5rem;color:var(--ink);font-weight:650;text-decoration:none;letter-spacing:-.01em}
.clock{margin:0;color:var(--soft);font-size:.85rem;display:flex;flex-wrap:wrap;gap:.1rem .75rem}
.clock>*{white-space:nowrap}
[hidden]{display:none!important}
.places{order:3;flex:1 0 100%;display:flex;flex-wrap:wrap;gap:.1rem .9rem;font-size:.92rem}
.places a{color:var(--soft);text-decoration:none;padding:.25rem 0;border-bottom:2px solid transparent}
.places a:hover{color:var(--ink)}
.places [aria-current]{color:var(--ink);border-color:var(--brand);font-weight:600}
.banner p{margin:.4rem 0 .6rem}.banner a{color:var(--red);font-weight:600}
.broken{color:var(--red);font-weight:600;padding-top:.4rem;padding-bottom:.6rem}
main{padding-bottom:4rem!important}
.crumbs{font-size:.88rem;color:var(--soft);margin-bottom:.5rem}
.headline,.panel{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.1rem 1.25rem;margin-bottom:1rem}
.headline{--tone:var(--green);padding:1.4rem 1.5rem 1.3rem;border-color:color-mix(in srgb,var(--tone) 35%,var(--line));
background:linear-gradient(color-mix(in srgb,var(--tone) var(--tint),var(--card)),color-mix(in srgb,var(--tone) 3%,var(--card)));position:relative;overflow:hidden}
.headline::before{content:"";position:absolute;inset:0 auto 0 0;width:5px;background:var(--tone)}
.headline.acted{--tone:var(--amber)}.headline.alarm{--tone:var(--red)}.headline.unknown{--tone:var(--violet)}
.advice{font-size:1.05rem}
.address{font-size:1.45rem}
.columns{display:grid;grid-template-columns:minmax(0,1.9fr) minmax(0,1fr);gap:1rem;align-items:start}
.count{color:var(--soft);font-weight:400}
.line{display:flex;flex-wrap:wrap;align-items:center;gap:.15rem .55rem}
.badge{--tone:var(--grey);display:inline-flex;align-items:center;gap:.4em;padding:.08rem .55rem .1rem;border-radius:99px;font-size:.8rem;font-weight:600;white-space:nowrap;
color:var(--tone);background:color-mix(in srgb,var(--tone) var(--tint),transparent)}
.badge::before{content:"";flex:none;width:.5em;height:.5em;border-radius:50%;background:currentColor}
.critical,.held,.pause{--tone:var(--red)!important}
.warning,.near_limit,.over_limit,.paused_by_guard{--tone:var(--amber)!important}
.recovering,.recovery,.waiting{--tone:var(--blue)!important}
.ok,.confirmed{--tone:var(--green)!important}
.not_judged,.hold{--tone:var(--violet)!important}
.info,.not_running,.no_warmup,.paused_by_others,.none{--tone:var(--grey)!important}
.paused_by_guard.badge::before{border-radius:1px}.held.badge::before,.critical.badge::before{border-radius:0;clip-path:polygon(50% 0,100% 100%,0 100%);width:.6em;height:.55em}
.not_judged.badge::before,.not_running.badge::before,.no_warmup.badge::before{background:none;border:1.5px solid currentColor}
.events,.plain,.chips{list-style:none;margin:0;padding:0}
.events>li{--tone:var(--line);padding:.15rem 0 .15rem .9rem;border-left:3px solid var(--tone)}
.events>li+li{margin-top:.9rem}
.dense>li+li{margin-top:.3rem}
.runbook{font-size:.82rem;color:var(--soft)}
.rows{overflow-x:auto}
.plain>li+li{margin-top:.8rem;padding-top:.8rem;border-top:1px solid var(--line)}
.plain .line{justify-content:space-between}
details .plain .line{justify-content:flex-start}
.plain p{font-size:.9rem}.plain .line{font-size:1rem}
details{margin-top:.9rem}
summary{cursor:pointer;color:var(--link);font-size:.9rem}
details[open]>summary{margin-bottom:.7rem}
.bar{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.5rem 1rem;margin-bottom:.6rem}
.bar h2{margin:0}
.filter{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem;font-size:.9rem}
input,button,select{font:inherit;color:inherit;background:var(--ground);border:1px solid color-mix(in srgb,var(--soft) 60%,transparent);border-radius:8px;padding:.3rem .7rem}
input{width:15rem}
input,select{max-width:100%;min-width:0}
button,select{cursor:pointer}
.commands{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;margin-bottom:.8rem;font-size:.9rem}
.selection{position:sticky;bottom:0;display:flex;flex-wrap:wrap;justify-content:center;align-items:center;gap:.5rem;padding:.7rem;background:var(--card);border-top:1px solid var(--line)}
@supports selector(:has(a)){.selection{display:none}body:has([form=selection]:checked) .selection{display:flex}}
input[type=checkbox]{width:auto;margin:0 .4rem 0 0;vertical-align:middle}
form.clock{align-items:center}
.primary{background:var(--link);border-color:var(--link);color:var(--card);font-weight:600}
.command h1{font-size:1.35rem}.command h2{margin-top:1.1rem}
.command .field{display:flex;flex-wrap:wrap;align-items:center;gap:.3rem .8rem;margin:.5rem 0}
.command label{min-width:6rem;font-weight:600}
.command #reason{width:30rem}
.chips{display:flex;flex-wrap:wrap;gap:.4rem;margin-bottom:.7rem}
.chip{--tone:var(--grey);display:inline-block;padding:.12rem .7rem;border-radius:99px;border:1px solid var(--line);color:var(--ink);text-decoration:none;font-size:.85rem}
.chip b{color:var(--tone);font-weight:650}
.chip:hover,.chip[aria-current]{border-color:var(--tone);background:color-mix(in srgb,var(--tone) var(--tint),transparent)}
table{width:100%;border-collapse:collapse;font-size:.9rem}
th,td{padding:.55rem .6rem;text-align:left;vertical-align:middle;border-top:1px solid var(--line);font-weight:400}
thead th{border-top:0;color:var(--soft);font-size:.8rem;padding-top:.3rem;padding-bottom:.4rem;white-space:nowrap;overflow-wrap:normal}
.fleet thead th{position:sticky;top:0;background:var(--card);z-index:1}
thead th a{color:inherit;text-decoration-color:transparent}
thead th a:hover,thead th[aria-sort] a{color:var(--ink);text-decoration-color:currentColor}
.fleet tbody th{min-width:11rem}
.fleet tbody a{scroll-margin:5rem 0}
.keys{font-size:.82rem;color:var(--soft);margin-top:.7rem}
kbd{font:inherit;border:1px solid var(--line);border-radius:4px;padding:0 .35em}
tbody th a{font-weight:600;color:var(--ink);text-decoration-color:color-mix(in srgb,var(--soft) 50%,transparent)}
tbody th small{display:block}
tbody tr:hover{background:color-mix(in srgb,var(--link) 5%,transparent)}
.fleet th:first-child,.fleet td:first-child{padding-left:0}
.fleet td{overflow-wrap:normal}
.state .badge{white-space:normal}
.number{white-space:nowrap}
.rate{min-width:14.5rem}
.figures{display:flex;justify-content:space-between;gap:.6rem;white-space:nowrap}
.figures .muted{font-size:.82rem}
.meter{display:block;width:100%;height:5px;margin-top:.2rem}
.meter .track{fill:var(--track)}.meter .value{fill:color-mix(in srgb,var(--green) 75%,var(--card))}.meter.near .value{fill:color-mix(in srgb,var(--amber) 80%,var(--card))}.meter.over .value{fill:var(--red)}.meter .limit{fill:var(--ink)}
.pages{display:flex;justify-content:center;gap:1.2rem;padding-top:1rem;font-size:.9rem}
.facts{margin:0;font-size:.92rem}
.facts>div{display:flex;justify-content:space-between;gap:1rem;padding:.42rem 0;border-top:1px solid var(--line)}
.facts>div:first-child{border-top:0}
.facts dt{color:var(--soft);white-space:nowrap}
.facts dd{margin:0;text-align:right;min-width:0}
.facts dd small{display:inline-block;min-width:3.6rem}
.facts .wide{display:block}.facts .wide dd{text-align:left}
.chart{margin:0}
.chart svg{display:block;width:100%;height:auto}
.chart text{font-size:11px;fill:var(--soft)}
.chart .end{text-anchor:end}
.chart .axis{stroke:var(--line)}
.chart .catch{fill:transparent}
.chart g:hover .catch{fill:color-mix(in srgb,var(--link) 8%,transparent)}
.chart .sent{fill:color-mix(in srgb,var(--soft) 38%,var(--card))}.chart .bounced,.chart .rate.over{fill:var(--red)}.chart .rate{fill:color-mix(in srgb,var(--green) 60%,var(--card))}
.chart .limit{stroke:var(--ink);stroke-dasharray:5 4}
.chart .act{stroke:var(--brand);stroke-width:2}
.chart .changed{stroke:var(--violet);stroke-width:2;stroke-dasharray:2 3}
.chart .fired{fill:var(--red)}
figcaption{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;color:var(--soft);font-size:.82rem;margin-top:.5rem}
.key::before{content:"";display:inline-block;width:.75em;height:.75em;border-radius:2px;margin-right:.4em;background:var(--red)}
.key.sent::before{background:color-mix(in srgb,var(--soft) 38%,var(--card))}.key.rate::before{background:color-mix(in srgb,var(--green) 60%,var(--card))}.key.act::before{background:var(--brand);width:2px}.key.changed::before{background:var(--violet);width:2px}.key.limit::before{background:var(--ink);height:2px;vertical-align:middle}.key.fired::before{border-radius:0;clip-path:polygon(50% 0,100% 100%,0 100%)}
.days{max-width:34rem}
.days th,.days td{overflow-wrap:normal;white-space:nowrap}
.days th:first-child{padding-left:0}
code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--track);border-radius:4px;padding:.05em .3em}
@media (min-width:75rem){.fleet tbody th{min-width:15rem}}
@media (max-width:60rem){.columns{grid-template-columns:minmax(0,1fr);gap:0}}
@media (max-width:52rem){
.keys{display:none}
.wrap{padding:0 .8rem}
.facts dt{white-space:normal}
h1{font-size:1.35rem}
.filter{width:100%}.filter input{flex:1 1 10rem;min-width:0}
.fleet table,.fleet tbody{display:block}
.fleet thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.fleet tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.45rem .8rem;padding:.9rem 0;border-top:1px solid var(--line)}
.fleet tbody th,.fleet td{border:0;padding:0;min-width:0}
.fleet tbody tr:first-child{border-top:0}
.fleet .state{grid-column:1/-1;grid-row:1}
.fleet tbody th{grid-column:1/-1;grid-row:2}
.fleet .rate{grid-column:1/-1;grid-row:3}
.groups tbody th{grid-row:1}.groups .states{grid-column:1/-1}.groups td:last-child{grid-column:span 2}
.chart text{font-size:22px}
.days{font-size:.82rem}.days th,.days td{padding:.45rem .25rem}.days thead th{white-space:normal}
.fleet td.rate::before{display:none!important}
.fleet td:not(.state)::before{content:attr(data-heading);color:var(--soft);font-size:.8rem;display:block}
}
@media (prefers-reduced-motion:no-preference){a,.chip{transition:background-color .15s,border-color .15s}}
`;

/** The icon: a mailbox flame in a shield, drawn by hand. */
export const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M16 2 28 6v9c0 8-5 12.6-12 15C9 27.600 4 23 4 15V6z" fill="#b4531a"/><path d="M16.500 8c.8 3.200 5 5 5 9.600A5.500 5.500 0 0 1 16 23a5.500 5.500 0 0 1-5.500-5.400c0-2.600 1.500-3.800 2.300-5.600.9.800 1.300 1.600 1.500 2.600 1.500-1.500 2.300-3.900 2.200-6.600z" fill="#fff3e2"/></svg>\n`;
