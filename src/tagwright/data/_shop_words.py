"""The words of the embedded shop: entries parted by ` | `; a word in braces is a slot that shop.py
fills and tags.
"""

from typing import NamedTuple


class Shelf(NamedTuple):
    """What the goods of one group share, and so what makes them look alike."""

    brands: str
    generic: str  # names that fit every one of the group's goods
    adjectives: str
    parts: str
    scenes: str
    lines: str
    # one a line: label; names; and what is said of it alone: an adjective, a part, a sentence
    goods: str


class Trait(NamedTuple):
    """A label that any page may carry beside its goods: what says so, and what only sounds like
    it.
    """

    lines: str
    decoys: str


SHELVES = {
    "kitchen": Shelf(
        "Messerli | Pankow & Sons | Olla | Brandt Home",
        "kitchen piece | kitchen tool | cook's companion",
        "stainless | dishwasher-safe | hand-forged | non-stick | heavy-duty | compact |"
        " heat-resistant | matt-black",
        "riveted handle | beech handle | cast-iron core | non-slip grip | measuring scale |"
        " silicone rim | steel body",
        "small kitchens | a busy family table | Sunday cooking | quick weekday dinners | people who"
        " cook every day",
        "Wash it by hand and it will last for decades. | Works on gas and induction. | Sharp, quiet"
        " and easy to clean. | Cooks in our test kitchen reach for it first. | Onions, herbs and"
        " roots are done in no time.",
        """
        knife; chef's knife | paring knife | bread knife; double-edged; Damascus blade; Slices ripe tomatoes.
        cleaver; cleaver | butcher's knife | vegetable cleaver; broad; heavy blade; Splits a pumpkin in one stroke.
        pan; frying pan | skillet | crêpe pan; shallow; pouring lip; Golden pancakes, no sticking.
        wok; wok | stir-fry pan | carbon-steel wok; round-bottomed; wok ring; Tosses noodles over high flames.
        kettle; kettle | water kettle | gooseneck kettle; whistling; gooseneck spout; Boils a litre in three minutes.
        grinder; pepper mill | coffee grinder | spice grinder; conical; ceramic burrs; Set it from coarse to very fine.
        """,
    ),
    "outdoor": Shelf(
        "Norrvik | Fjellgard | Campo Alto | Wildhorn",
        "camp item | piece of camp kit | trail companion",
        "waterproof | ultralight | three-season | windproof | foldable | ripstop | packable |"
        " quick-drying",
        "taped seams | aluminium poles | carry sack | reflective cords | mosquito net | steel pegs"
        " | compression straps",
        "a wet weekend | long treks | the beach and the woods | festival nights | two people and"
        " a dog",
        "Packs down to the size of a water bottle. | Tested in a gale on the coast. | Hang it"
        " between two trees. | Ready in five minutes, even in the dark. | Keeps you warm and dry"
        " until morning.",
        """
        tent; tent | dome tent | tunnel tent; freestanding; vestibule; Two doors, so nobody climbs over anybody.
        tarp; tarp | rain fly | tarp shelter; square; guy lines; Turns two trees into a dry porch.
        sleeping-bag; sleeping bag | mummy bag | down bag; goose-down; draught collar; Comfortable down to minus five.
        quilt; camping quilt | down quilt | trail quilt; open-backed; foot box; All the warmth, half the zip.
        stove; camp stove | gas stove | hiking stove; piezo-lit; gas cartridge; Simmers as well as it roars.
        hammock; hammock | travel hammock | hanging bed; gathered-end; tree straps; Sway under the stars.
        """,
    ),
    "shoes": Shelf(
        "Tarvo | Lindholm | Pasolini | Stridewell",
        "pair of shoes | shoe | everyday shoe",
        "breathable | waterproof | cushioned | slip-resistant | leather | vegan | wide-fitting |"
        " lightweight",
        "rubber sole | cork footbed | padded collar | toe cap | removable insole | rope laces |"
        " mesh lining",
        "long days on your feet | city walks | rocky paths | the garden and the terrace | wide"
        " feet",
        "Runs small, so order one size up. | Comfortable from the first step. | Good grip on wet"
        " stone. | The sole can be replaced. | Your heel stays where it should.",
        """
        hiking-boot; hiking boot | trekking boot | mountain boot; ankle-high; lug sole; Crampon-ready and stubborn.
        trail-shoe; trail shoe | approach shoe | trail runner; low-cut; speed laces; Made to run where boots walk.
        sandal; sandal | trekking sandal | leather sandal; open-toed; ankle strap; Rinse the sand off and go.
        slipper; slipper | felt slipper | house shoe; felted; wool lining; For the way from bed to coffee.
        sneaker; sneaker | court shoe | canvas sneaker; retro; white sole; As good with jeans as with a suit.
        """,
    ),
    "audio": Shelf(
        "Sonelle | Klangwerk | Bright Owl | Auris",
        "sound device | listening set | piece of audio gear",
        "wireless | noise-cancelling | foldable | high-resolution | splash-proof | studio-grade | "
        "rechargeable | low-latency",
        "USB-C port | charging case | braided cable | touch controls | 30-hour battery | memory"
        " foam pads | bass driver",
        "the daily train | home recording | parties in the park | late-night listening | video"
        " calls",
        "Pairs with two phones at once. | Warm bass and clear voices. | A full charge takes one"
        " hour. | Hear every breath of the singer. | Turn it up without rattle.",
        """
        headphones; headset | pair of headphones | over-ear set; over-ear; padded headband; Shuts out the open office.
        earbuds; pair of earbuds | in-ear set | earphone set; in-ear; silicone tips; Stay put on every run.
        speaker; speaker | bluetooth speaker | bookshelf speaker; floor-shaking; bass port; Fills the whole room.
        soundbar; soundbar | TV speaker | sound stage; slim; HDMI input; Slides under the television.
        turntable; turntable | record player | vinyl player; belt-driven; tone arm; Dust off your old records.
        """,
    ),
    "bike": Shelf(
        "Veloura | Kettwig | Spoke & Co | Radmeister",
        "bike accessory | cycling extra | piece of bike kit",
        "rainproof | adjustable | USB-rechargeable | reflective | hardened | clip-on | universal |"
        " lightweight",
        "quick-release mount | steel bracket | spare key | pressure gauge | rubber strap |"
        " reflector strip | click rail",
        "the daily commute | gravel tours | night rides | cargo bikes | steep city streets",
        "Fits every common frame. | Mounts without tools. | Be seen from 300 metres. | "
        "Made to live outdoors all year. | "
        "Slips off in a second when you park.",
        """
        helmet; helmet | bike helmet | commuter helmet; ventilated; chin strap; One turn of the dial and it sits.
        light; bike light | front light | rear light; 70-lux; brake sensor; Approved for road use.
        lock; bike lock | folding lock | chain lock; pick-resistant; hardened shackle; We tried a grinder: nine minutes.
        pump; bike pump | floor pump | mini pump; dual-valve; hose head; From flat to hard in forty strokes.
        pannier; pannier | bike bag | roll-top bag; roll-top; shoulder strap; Swallows a laptop and the shopping.
        """,
    ),
    "garden": Shelf(
        "Greenhollow | Gärtnerei Voss | Terrano | Hedge & Row",
        "garden tool | helper for the garden | tool for the shed",
        "rust-free | long-handled | ergonomic | hardened | telescopic | lightweight | razor-sharp |"
        " frost-proof",
        "ash handle | carbon-steel blade | safety catch | brass fitting | wall hook | foot rest |"
        " spare blade",
        "heavy clay | raised beds | old fruit trees | small city gardens | hedges that got out of"
        " hand",
        "Oil it once a year. | Goes through roots like butter. | Easy on the back and the wrists. |"
        " The handle never turns in your hand. | Hang it up dry after work.",
        """
        spade; spade | digging spade | border spade; treaded; D-grip; Cuts a straight edge in the lawn.
        hoe; hoe | weeding hoe | push hoe; swan-necked; swivel head; Weeds go before they notice.
        shears; pair of shears | hedge trimmer | hedge clipper; wavy-bladed; shock stops; Straight hedges by noon.
        pruner; pruner | secateur | bypass pruner; bypass; sap groove; A clean cut heals faster.
        hose; garden hose | spiral hose | hose reel; kink-free; spray nozzle; Reaches the last tomato.
        """,
    ),
    "desk": Shelf(
        "Papyr | Hausmann Office | Inkwell Row | Lumo",
        "desk essential | thing for your desk | office favourite",
        "refillable | dimmable | lay-flat | height-adjustable | dotted | recycled | brushed-metal |"
        " undated",
        "brass clip | lumbar support | ribbon marker | USB port | numbered pages | weighted base |"
        " ink converter",
        "home offices | long meetings | students | morning pages | people who plan on paper",
        "Writes smoothly on every page. | Looks good on any desk. | Made from recycled material. | "
        "Keeps your week in order. | Easy on the eyes and the back.",
        """
        pen; fountain pen | rollerball | ballpoint pen; iridium-tipped; fine nib; Starts at once, even after weeks.
        notebook; notebook | journal | sketchbook; thread-bound; cream paper; No ink shows through.
        planner; planner | weekly planner | desk calendar; yearly; goal pages; A whole month at a glance.
        lamp; desk lamp | reading lamp | task light; flicker-free; swivel arm; From candle to daylight.
        chair; office chair | desk chair | swivel chair; reclining; castors; Sit eight hours, stand up straight.
        """,
    ),
    "toys": Shelf(
        "Kleckerfrosch | Little Comet | Holzig | Merrymoth",
        "toy | plaything | rainy-day favourite",
        "wooden | washable | hand-painted | award-winning | colourful | plastic-free | magnetic |"
        " extra-soft",
        "cotton bag | 48 pieces | storage box | picture guide | wooden tray | rounded edges | carry"
        " handle",
        "quiet afternoons | the whole family | little builders | grandparents' houses | the"
        " playroom floor",
        "Hours of quiet fun. | Painted with colours that are safe to chew. | Nobody wants to stop"
        " at bedtime. | All pieces fit back into the box. | Teaches patience without saying so.",
        """
        puzzle; puzzle | jigsaw | floor puzzle; thick-cut; poster; The last piece is always under the sofa.
        blocks; set of blocks | building set | block set; stackable; arches; Towers fall, builders learn.
        plush; plush bear | cuddly toy | soft toy; cuddly; embroidered eyes; Ears made for holding on.
        kite; kite | stunt kite | single-line kite; delta-winged; spool; Flies in the lightest breeze.
        board-game; board game | family game | strategy game; cooperative; game board; Learnt in five minutes.
        """,
    ),
    "bath": Shelf(
        "Aquarelle | Lavendula | Weiss & Wolle | Thermae",
        "bath favourite | thing for the bathroom | little luxury",
        "organic | quick-drying | fragrance-free | hypoallergenic | extra-soft | handmade |"
        " absorbent | plastic-free",
        "cotton loop | olive oil | hanging ribbon | natural bristles | woven border | deep pockets"
        " | bamboo handle",
        "sensitive skin | slow mornings | the sauna | guest bathrooms | after a long swim",
        "Softer with every wash. | Smells faintly of lavender. | Dries overnight on the hook. | "
        "Gentle on skin and on the environment. | Wraps you up like a cloud.",
        """
        towel; towel | bath towel | hammam towel; waffle-weave; terry cotton; Dries you in one go.
        robe; bathrobe | kimono robe | dressing gown; belted; shawl collar; Sunday, in cotton.
        soap; bar of soap | shampoo bar | soap bar; cold-pressed; shea butter; Lathers well in hard water.
        brush; bath brush | body brush | back brush; dry-brushing; long stick; Reaches the spot nobody reaches.
        """,
    ),
}

TRAITS = {
    "for/children": Trait(
        "Made for small hands. | Sized for ages four to ten. | Our youngest testers would not give"
        " it back.",
        "Keep out of reach of children. | Not a toy. | Parents love it too.",
    ),
    "for/gift": Trait(
        "Comes gift-wrapped with a card. | A present that gets unwrapped twice. | "
        "Wrapped on request, price tag removed.",
        "A gift to yourself, some say. | Gift wrapping is not available for this item. | Vouchers"
        " cannot be used here.",
    ),
    "for/travel": Trait(
        "Fits into hand luggage. | Carry-on size, we measured. | Light enough for every suitcase.",
        "Too heavy for a suitcase. | Shipped by sea, not by air. | Inspired by travels in"
        " Portugal.",
    ),
    "for/beginners": Trait(
        "Ideal for your first try. | Forgives every mistake of a novice. | A short lesson is"
        " included.",
        "Experts only, please. | The first of a new line. | Lessons learned went into this"
        " version.",
    ),
    "for/left-handed": Trait(
        "Works in the left hand too. | A true left-handed version. | Mirrored for lefties.",
        "Only a few left. | Right-handed version only. | Nothing left to wish for.",
    ),
    "season/winter": Trait(
        "For the cold months. | Stays supple in deep frost. | Snow is no excuse.",
        "Store it indoors in winter. | Back in stock after the winter. | Not suitable for snow.",
    ),
    "season/summer": Trait(
        "For hot days and long evenings. | Our summer favourite. | Made for heatwaves.",
        "The summer sale is over. | Avoid direct sun. | We close for two weeks in summer.",
    ),
    "season/festive": Trait(
        "A limited Christmas edition. | With stars for the holidays. | Under the tree by the 24th.",
        "Delivery before Christmas is not guaranteed. | Returns after the holidays are free. | "
        "Not for festive lighting.",
    ),
}

OPENINGS = (
    "The {brand} {model} is a {adjective} {name} with {part}, made for {scene}. | {brand} built"
    " this {adjective} {name} for {scene}. | A {adjective}, {adjective} {name} for {scene}. | Meet"
    " {model}, the {name} that {brand} makes for {scene}. | With {part} and {part}, this {name} is"
    " made for {scene}."
)
DETAILS = (
    "It is {adjective} and comes with {part}. | New this year: {part}. | {adjective} and"
    " {adjective}, as always with {brand}. | You get {part}, {part} and a fair price. | What people"
    " praise most: {part}. | Also {adjective}."
)
BUNDLES = (
    "The set includes a {own}. | Comes together with a {own}. | In the box: a matching {own}. | "
    "Bundled with a {adjective} {own}."
)
MENTIONS = (
    "Goes well with our {own}. | Customers also bought a {own}. | Looking for a {own}? See the next"
    " page. | Cheaper than a {own}. | A {own} is sold separately. | Please note: this is not a"
    " {own}."
)
NOTICES = (
    "Delivered in two days. | Two-year warranty. | Free returns within 30 days. | Only a few in"
    " stock. | Rated 4.6 out of 5. | Designed in Malmö. | Packed without plastic. | Available in"
    " three colours."
)
BLANK_TITLES = (
    "{brand} gift card | {brand} repair day | Spare parts for {brand} | News from {brand} | Opening"
    " hours"
)
BLANK_LINES = (
    "Valid for three years in every shop. | Bring what is broken and leave with it whole. | Screws,"
    " springs and small things by the gram. | Read how {brand} makes {part} and {part} by hand. |"
    " Closed on Mondays, as ever. | We look for a colleague who knows what {adjective} means."
)
TITLES = (
    "{brand} {model} {own} | {brand} {model} {name} | {brand} {model}, {adjective} | {model}"
    " {name}, {adjective} | {adjective} {name} by {brand} | {brand} {name} with {part}"
)
MODELS = (
    "Halden | Mira | Orso | Piet | Tove | Nook | Juna | Brisk | Faro | Elva | Kodo | Rilla | Sorrel"
    " | Tindra | Vale"
)
